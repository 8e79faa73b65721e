internal import FoundationEssentials

/// What the load understands of the server's messages; the rest goes by.
struct ServerWord: Decodable {
  var type: String
  var sdp: String?
  var code: String?
  var message: String?
  var reason: String?
  var pingInterval: Double?

  init?(_ text: String) {
    guard let word = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { return nil }
    self = word
  }
}

/// What the load says.
struct ClientWord: Encodable {
  var type: String
  var id: Int?
  var sdp: String?
  var tracks: [String]?

  static func offer(_ sdp: String) -> ClientWord { ClientWord(type: "offer", id: 1, sdp: sdp, tracks: []) }
  static let ping = ClientWord(type: "ping")
  static let leave = ClientWord(type: "leave")

  var text: String {
    // Strings and numbers alone: there is nothing that could fail.
    (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }
}

/// An answer whose candidates are all one address.
enum AnswerRewriting {
  /// - Parameters:
  ///   - answer: SDP.
  ///   - media: address and port.
  static func withCandidate(_ media: (address: String, port: Int), _ answer: String) -> String {
    var lines: [Substring] = []
    var hasOne = false
    for line in answer.split(separator: "\r\n", omittingEmptySubsequences: true) {
      if line.hasPrefix("m=") { hasOne = false }
      guard line.hasPrefix("a=candidate:") else {
        lines.append(line)
        continue
      }
      guard !hasOne else { continue }
      hasOne = true
      lines.append("a=candidate:1 1 udp 2130706431 \(media.address) \(media.port) typ host")
    }
    return lines.joined(separator: "\r\n") + "\r\n"
  }
}
