import AccessTokens
import Foundation
import Model
import Testing

@testable import Push

@Suite("What a push carries", .timeLimit(.minutes(2)))
struct PushPayloadTests {
  private static let key = ["keyId": "k1", "ciphertext": "AAAA", "keyFrom": "ada"]

  private func fields(_ payload: PushPayload) throws -> [String: Any] {
    try #require(JSONSerialization.jsonObject(with: Data(payload.bytes)) as? [String: Any])
  }

  // MARK: Its fields

  @Test(arguments: PushDevice.Platform.allCases)
  func `a ring has all that a locked phone needs`(platform: PushDevice.Platform) throws {
    let notice = Sample.ring(keys: ["device-1": Self.key, "device-2": ["ciphertext": "another's"]])
    let payload = try #require(PushPayload(notice, for: Sample.device(1, platform)))
    let fields = try fields(payload)
    #expect(fields["v"] as? Int == 1 && fields["type"] as? String == "ring")
    for (name, value) in [
      ("ringId", notice.ringId), ("callId", notice.callId), ("callerId", "ada"), ("callerName", "Ada"),
      ("media", "video"), ("room", "room-1"), ("token", "call.token.here"),
      ("url", "wss://roost.example/v1/ws"), ("expiresAt", "2027-01-15T08:00:30.000Z"),
    ] { #expect(fields[name] as? String == value, "\(name)") }
    #expect(fields["key"] as? [String: String] == Self.key && payload.hasKey && payload.callerName == "Ada")
    #expect((fields["aps"] == nil) == (platform == .webhook))
  }

  @Test func `each device has its own token, and one that there is none for has none`() throws {
    var tokens: [Int: String] = [:]
    for number in 1...3 {
      let payload = try #require(PushPayload(Sample.ring(), for: Sample.device(number)))
      tokens[number] = try fields(payload)["token"] as? String
    }
    #expect(tokens == [1: "call.token.here", 2: "another.token.here"])
  }

  @Test func `a ring of one who is in another call says so`() throws {
    var ring = PushNotice.Ring(expiresAt: WallTime(milliseconds: 0))
    ring.isBusy = true
    let notice = PushNotice(ringId: "r", callId: "c", callerId: "ada", media: "audio", kind: .ring(ring))
    let payload = try #require(PushPayload(notice, for: Sample.device()))
    #expect(try fields(payload)["busy"] as? Bool == true)
    let other = try #require(PushPayload(Sample.ring(), for: Sample.device()))
    #expect(try fields(other)["busy"] == nil)
  }

  @Test func `what there is none of is left out`() throws {
    let notice = PushNotice(
      ringId: "r", callId: "c", callerId: "ada", media: "audio",
      kind: .ring(PushNotice.Ring(expiresAt: WallTime(milliseconds: 0))))
    let payload = try #require(PushPayload(notice, for: Sample.device(1, .webhook)))
    #expect(
      String(decoding: payload.bytes, as: UTF8.self)
        == #"{"callId":"c","callerId":"ada","expiresAt":"1970-01-01T00:00:00.000Z","media":"audio","ringId":"r","type":"ring","v":1}"#
    )
    #expect(payload.callerName == nil && !payload.hasKey)
  }

  @Test func `the end of a ring has its reason, and nothing to join by`() throws {
    let payload = try #require(PushPayload(Sample.end("timedOut"), for: Sample.device()))
    let fields = try fields(payload)
    #expect(fields["type"] as? String == "ended" && fields["reason"] as? String == "timedOut")
    #expect(fields["ringId"] as? String == Sample.ringId)
    #expect(fields["token"] == nil && fields["room"] == nil && fields["url"] == nil && fields["key"] == nil)
  }

  @Test(
    arguments: [
      (Sample.ring(), "Ada", "Incoming video call"), (Sample.ring(name: nil), "Incoming video call", nil),
      (Sample.end("cancelled"), "Ada", "Missed call"),
      (Sample.end("timedOut", name: nil), "Missed call", nil),
      (Sample.end("answeredElsewhere"), "Ada", "Answered on another device"),
      (Sample.end("declinedElsewhere"), "Ada", "Declined on another device"),
    ] as [(PushNotice, String, String?)])
  func `an alert says who and what, with a sound as long as it rings`(
    notice: PushNotice, title: String, body: String?
  ) throws {
    let payload = try #require(PushPayload(notice, for: Sample.device(1, .apnsAlert)))
    let aps = try #require(try fields(payload)["aps"] as? [String: Any])
    let alert = try #require(aps["alert"] as? [String: String])
    #expect(alert["title"] == title && alert["body"] == body)
    #expect((aps["sound"] as? String == "default") == (notice.ring != nil))
  }

  // MARK: Its size

  /// Characters of one or many scalars, and those that JSON has to write by others.
  private static let characters: [String] = [
    "a", "é", "e\u{301}", "ß", "س", "لا", "مُحَمَّد", "漢", "字", "한", "\u{1112}\u{1161}\u{11AB}", "क्षि", "ก็", "🇩🇪",
    "👩‍👩‍👧‍👦",
    "🏳️‍🌈", "👍🏽", "❤️", "\u{1}", "\u{1F}", "\n", "\r\n", "\t", "\u{8}", "\"", "\\", "/", "\u{7F}", "\u{85}",
    "\u{2028}",
    "\u{202E}", "\u{FEFF}", "o" + String(repeating: "\u{302}", count: 25), "\u{10FFFD}", " ",
  ]

  private func size(_ text: some StringProtocol) -> Int {
    StrictJSON.string(String(text)).text.utf8.count - 2
  }

  /// Read by another reader. (Foundation's `JSONSerialization` swallows a byte order mark at a text's beginning.)
  private struct Said: Decodable {
    var callerName: String?
    var key: [String: String]?
  }

  /// - Returns: what is wrong with a payload for that notice; nil: nothing.
  private func problem(_ notice: PushNotice, _ platform: PushDevice.Platform) throws -> String? {
    let name = notice.callerName ?? ""
    let limit = PushPayload.limit(platform)
    guard let payload = PushPayload(notice, for: Sample.device(1, platform)) else { return "there is none" }
    if payload.bytes.count > limit { return "\(payload.bytes.count) bytes" }
    let said = try JSONDecoder().decode(Said.self, from: Data(payload.bytes))
    let cut = payload.callerName ?? ""
    guard Array((said.callerName ?? "").utf8) == Array(cut.utf8) else {
      return "another name"
    }
    guard Array(name).starts(with: cut), Array(name.prefix(cut.count)) == Array(cut) else {
      return "cut inside of a character"
    }
    if cut.count < name.count {
      let more = size(name.prefix(cut.count + 1)) - size(cut)
      let whole = payload.bytes.count + more * (platform == .apnsAlert ? 2 : 1)
      if whole <= limit { return "one more would fit" }
    }
    let hasOne = notice.ring?.keys["device-1"] != nil
    if hasOne, (said.key != nil) != payload.hasKey { return "the key is said wrong" }
    if hasOne, !payload.hasKey {
      // With the least of the name that there may be.
      var least = notice
      least.callerName = String(name.prefix(1))
      if PushPayload(least, for: Sample.device(1, platform))?.hasKey == true { return "the key would fit" }
    }
    return nil
  }

  @Test func `however long names and keys are, it is within its bound, and names end with a character`()
    throws
  {
    var random = RandomSource.seeded(state: 7)
    var (cut, keyless) = (0, 0)
    for round in 0..<600 {
      let few = Array(Self.characters.shuffled(using: &random).prefix(Int.random(in: 1...6, using: &random)))
      let count = Int.random(in: 0...[5, 60, 2_000].randomElement(using: &random)!, using: &random)
      let name = (0..<count).map { _ in few.randomElement(using: &random)! }.joined()
      let bytes = Int.random(in: 0...[300, 4_500, 6_000].randomElement(using: &random)!, using: &random)
      let key = ["ciphertext": String(repeating: "A", count: bytes), "keyId": "k"]
      let notice = Sample.ring(name: name, keys: round % 3 == 0 ? [:] : ["device-1": key])
      for platform in PushDevice.Platform.allCases {
        let problem = try problem(notice, platform)
        try #require(problem == nil, "round \(round), \(platform): \(problem ?? "")")
        let payload = try #require(PushPayload(notice, for: Sample.device(1, platform)))
        if payload.callerName?.utf8.count != name.utf8.count { cut += 1 }
        if round % 3 != 0, !payload.hasKey { keyless += 1 }
      }
    }
    // It has been seen.
    #expect(cut > 100 && keyless > 100, "\(cut) cut, \(keyless) without their key")
  }

  @Test func `a name that just fits is whole, and of one that doesn't the last character goes`() throws {
    let rest = try #require(PushPayload(Sample.ring(name: ""), for: Sample.device())).bytes.count
    let family = "👨‍👩‍👧‍👦"
    let room = PushPayload.limit(.apnsVoIP) - rest
    let letters = String(repeating: "x", count: room - family.utf8.count)
    let whole = try #require(PushPayload(Sample.ring(name: letters + family), for: Sample.device()))
    #expect(whole.bytes.count == 5_120 && whole.callerName == letters + family)
    let over = try #require(PushPayload(Sample.ring(name: letters + "x" + family), for: Sample.device()))
    #expect(over.callerName == letters + "x")
  }

  @Test func `the key goes once no character of the name is left, and the name is longer then`() throws {
    let name = String(repeating: "漢", count: 100)
    for (bytes, isThere) in [(4_000, true), (4_400, true), (4_900, false), (9_000, false)] {
      let keys = ["device-1": ["ciphertext": String(repeating: "A", count: bytes)]]
      let payload = try #require(PushPayload(Sample.ring(name: name, keys: keys), for: Sample.device()))
      #expect(payload.hasKey == isThere, "\(bytes)")
      #expect(payload.callerName?.isEmpty == false)
      if !isThere { #expect(payload.callerName == name) }
    }
  }

  @Test func `one endless character is no name, and what is too long by itself is no payload`() throws {
    let endless = "o" + String(repeating: "\u{302}", count: 6_000)
    let payload = try #require(
      PushPayload(Sample.ring(name: endless, keys: ["device-1": Self.key]), for: Sample.device()))
    #expect(payload.callerName == "" && payload.bytes.count < 1_000)
    var long = Sample.ring()
    long.callerId = String(repeating: "x", count: 5_200)
    #expect(PushPayload(long, for: Sample.device()) == nil)
    // An alert takes less.
    long.callerId = String(repeating: "x", count: 4_200)
    #expect(PushPayload(long, for: Sample.device()) != nil)
    #expect(PushPayload(long, for: Sample.device(1, .apnsAlert)) == nil)
  }
}
