import Crypto
import Foundation
import HTTPServer
import Testing

/// Keys as clients ask for them.
extension CallHouse {
  /// A point that no other key is, in base64.
  static func point() throws -> String {
    Data(try SigningKey().publicKey.suffix(65)).base64EncodedString()
  }

  func put(
    _ person: String, _ device: String = "phone", key: String? = nil, algorithm: String = "p256",
    by asking: String? = nil
  ) async throws -> House.Answer {
    let key = try key ?? Self.point()
    let body = #"{"device":"\#(device)","algorithm":"\#(algorithm)","key":"\#(key)"}"#
    return await ask(.put, "/v1/keys/\(person)", body, by: asking ?? person)
  }

  /// The log's key, and a client that pins it.
  func reader() async throws -> KeyReader {
    let answer = await ask(.get, "/v1/keys/log", by: "ada")
    return KeyReader(log: try KeyReader.bytes(answer.json, "key"))
  }

  /// What is wrapped for every device of people, as a request has it.
  func wrap(_ word: String, for people: String...) async -> String {
    var keys: [String] = []
    for person in people {
      let answer = await ask(.get, "/v1/keys/\(person)", by: "ada")
      for entry in answer.json["keys"] as? [NSDictionary] ?? [] {
        let (device, id) = (entry["device"] as? String ?? "", entry["id"] as? String ?? "")
        let text = Data("\(word) for \(person)/\(device)".utf8).base64EncodedString()
        keys.append(
          #"{"person":"\#(person)","device":"\#(device)","keyId":"\#(id)","ciphertext":"\#(text)"}"#)
      }
    }
    return "[\(keys.joined(separator: ","))]"
  }

  /// The rings that a person hears on a device.
  func rings(_ person: String, device: String? = nil) async -> [NSDictionary] {
    await events(person, device: device).filter { $0.kind == "call.ringing" }.map { $0.data }
  }

  /// All that a person hears on a device.
  func events(_ person: String, device: String? = nil) async -> [(kind: String, data: NSDictionary)] {
    let query = device.map { "&device=\($0)" } ?? ""
    return await ask(.get, "/v1/calls/events?after=0&limit=200\(query)", by: person).items.map {
      ($0["event"] as? String ?? "", $0["data"] as? NSDictionary ?? [:])
    }
  }
}

extension NSDictionary {
  /// What `key` is without whose it is; nil: there is none.
  var word: String? {
    guard let key = self["key"] as? NSDictionary, let text = key["ciphertext"] as? String,
      let data = Data(base64Encoded: text)
    else { return nil }
    return String(decoding: data, as: UTF8.self)
  }
}
