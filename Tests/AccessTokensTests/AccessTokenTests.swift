import Crypto
import Model
import Testing

@testable import AccessTokens

@Suite("Access tokens, RFC 7519 and RFC 7515", .timeLimit(.minutes(2)))
struct AccessTokenTests {
  let keys = [
    "APIkey": "a secret that is long enough to be one", "other": "another secret, also long enough",
  ]
  let now = 1_790_000_000

  /// Signs whatever is given, as an attacker with a key or a careless SDK might.
  func token(
    header: String = #"{"alg":"HS256","typ":"JWT"}"#, _ payload: String, secret: String? = nil
  ) -> String {
    let signed = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(payload.utf8))
    let key = Array((secret ?? keys["APIkey"] ?? "").utf8)
    return signed + "." + Base64URL.encode(HMAC.code(.sha256, key: key, message: Array(signed.utf8)))
  }

  func payload(_ rest: String = "", exp: Int? = nil) -> String {
    #"{"iss":"APIkey","exp":\#(exp ?? now + 600)\#(rest.isEmpty ? "" : "," + rest)}"#
  }

  func verify(_ token: String?) throws -> AccessToken {
    try AccessToken(verifying: token, keys: keys, now: now)
  }

  @Test func `HMAC-SHA-256 gives the value of RFC 4231, case 2`() {
    let digest = HMAC.code(
      .sha256, key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8))
    let hex = digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    #expect(hex == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
  }

  @Test func `a token as LiveKit's SDKs mint it is read`() throws {
    let read = try verify(
      token(
        payload(
          #""sub":"ada","nbf":1789999000,"name":"Ada L.","metadata":"{\"a\":1}","sha256":"x","kind":"standard","#
            + #""attributes":{"team":"\u00e4\ud83d\ude00"},"video":{"roomJoin":true,"room":"a/b","agent":true,"#
            + #""canPublishSources":["camera","MICROPHONE","hologram"]}"#)))
    #expect(read.identity == "ada" && read.name == "Ada L." && read.metadata == #"{"a":1}"#)
    #expect(read.attributes == ["team": "ä😀"])
    #expect(read.grants.canPublish && read.grants.canSubscribe && read.grants.canPublishData)
    #expect(!read.grants.canUpdateOwnMetadata && !read.grants.roomAdmin)
    #expect(read.grants.mayPublish(.camera, as: .video) && !read.grants.mayPublish(.screenShare, as: .video))
    #expect(try read.requireJoin(room: "a/b") == "ada")
    #expect(read.effectiveIssue == 1_789_999_000)
  }

  @Test func `what is minted is read back the same`() throws {
    var grants = Grants.join("café \u{1F600}")
    grants.canPublishData = false
    grants.canPublishSources = [.screenShare, .microphone]
    grants.roomAdmin = true
    let minted = AccessToken(
      apiKey: "other", identity: "bob \"\\", expires: now + 5, notBefore: now, issuedAt: now, name: "B\n",
      metadata: "m", attributes: ["k": "v"], grants: grants)
    var read = try verify(minted.signed(secret: keys["other"] ?? ""))
    #expect(read.device != nil)
    read.device = nil
    #expect(read == minted)

    grants.canPublish = false
    grants.canSubscribe = false
    let mute = AccessToken(apiKey: "other", identity: "x", expires: now + 5, grants: grants)
    read = try verify(mute.signed(secret: keys["other"] ?? ""))
    read.device = nil
    #expect(read == mute)
  }

  @Test func `what stands for a token is the same whenever it is read, and another for another token`() throws
  {
    let attributes = Dictionary(uniqueKeysWithValues: (0..<50).map { ("k\($0)", "v") })
    let minted = AccessToken(
      apiKey: "APIkey", identity: "bob", expires: now + 5, issuedAt: now, attributes: attributes,
      grants: .join("r"))
    let text = minted.signed(secret: keys["APIkey"] ?? "")
    let devices = try (0..<20).map { _ in try verify(text).device }
    #expect(Set(devices).count == 1 && devices[0]?.utf8.count == 22 && minted.device == nil)
    var others = Array(repeating: minted, count: 5)
    others[0].expires += 1
    others[1].issuedAt = now - 1
    others[2].identity = "eve"
    others[3].attributes["k0"] = "w"
    others[4].grants.hidden = true
    let all = try others.map { try verify($0.signed(secret: keys["APIkey"] ?? "")).device }
    #expect(Set(all + devices).count == 6)
  }

  @Test func `tokens that differ in a claim that isn't read, or in the key, are of two devices`() throws {
    let texts = [
      payload(), payload(#""jti":"1""#), payload(#""jti":"2""#), payload().replacing(",", with: ", "),
    ]
    let devices = try texts.map { try verify(token($0)).device }
    #expect(Set(devices).count == 4 && !devices.contains(nil))
    // Who knows the text alone can't draw it.
    let other = try AccessToken(
      verifying: token(texts[0], secret: "a third secret"), keys: ["APIkey": "a third secret"], now: now)
    #expect(other.device != devices[0])
  }

  @Test func `a token that is renewed again and again is of the device of the first`() throws {
    var read = try verify(token(payload(#""sub":"ada","jti":"1","video":{"roomJoin":true,"room":"r"}"#)))
    let first = try #require(read.device)
    for turn in 0..<5 {
      let text = read.renewed(at: now + turn, grants: read.grants).signed(secret: keys["APIkey"] ?? "")
      read = try verify(text)
      #expect(read.device == first && read.issuedAt == now + turn)
    }
  }

  @Test func `what stands for a device has 1 to 64 bytes without control characters`() throws {
    for name in ["x", String(repeating: "x", count: 64), "é"] {
      #expect(try verify(token(payload(#""roostDevice":"\#(name)""#))).device == name)
    }
    for value in ["\"\"", #""\#(String(repeating: "x", count: 65))""#, #""a\u0000""#, "1", "{}"] {
      #expect(throws: AccessTokenRefusal.malformed(reason: "roostDevice"), "\(value)") {
        try verify(token(payload(#""roostDevice":\#(value)"#)))
      }
    }
    #expect(try verify(token(payload(#""roostDevice":null"#))).device?.utf8.count == 22)
  }

  @Test func `what only this server knows is read, and an invitation is forgotten once one is in`() throws {
    let read = try verify(
      token(payload(#""roost":{"admitted":true,"invitation":"IV_0123456789ab","x":1}"#)))
    #expect(read.roost == RoostClaim(isAdmitted: true, invitation: "IV_0123456789ab"))
    #expect(read.isAdmitted)
    #expect(try verify(read.signed(secret: keys["APIkey"] ?? "")) == read)
    let renewed = read.renewed(at: now, grants: read.grants)
    #expect(renewed.roost == RoostClaim(admittedBy: "IV_0123456789ab") && !renewed.isAdmitted)
    for nothing in [#""roost":null"#, #""roost":{}"#, #""roost":{"admitted":null,"invitation":""}"#, ""] {
      let read = try verify(token(payload(nothing)))
      #expect(read.roost == RoostClaim() && !read.isAdmitted, "\(nothing)")
    }
    // Those who are of a call needn't wait in its room.
    #expect(try verify(token(payload(#""call":{"id":"c"}"#))).isAdmitted)
    let wrong = [
      #""roost":true"#, #""roost":{"admitted":1}"#, #""roost":{"invitation":7}"#,
      #""roost":{"invitation":"IV_0123456789abcdef0123456789abcdef"}"#,
    ]
    for text in wrong {
      #expect(throws: AccessTokenRefusal.self, "\(text)") { try verify(token(payload(text))) }
    }
    #expect(AccessTokenRefusal.revoked.status == 403 && AccessTokenRefusal.revoked.code == "token-revoked")
  }

  @Test func `data follows publishing unless the token says otherwise`() throws {
    let silent = try verify(token(payload(#""video":{"roomJoin":true,"canPublish":false}"#))).grants
    #expect(!silent.canPublish && !silent.canPublishData && silent.canSubscribe)
    let data = try verify(
      token(payload(#""video":{"roomJoin":true,"canPublish":false,"canPublishData":true}"#)))
    #expect(data.grants.canPublishData)
    let none = try verify(token(payload(#""video":{"roomList":true}"#))).grants
    #expect(!none.canPublish && !none.canSubscribe && none.roomList)
  }

  @Test func `sixty seconds of leeway and not one more`() throws {
    #expect(throws: Never.self) { try verify(token(payload(exp: now - 59))) }
    #expect(throws: AccessTokenRefusal.expired) { try verify(token(payload(exp: now - 60))) }
    #expect(throws: Never.self) { try verify(token(payload(#""nbf":\#(now + 60)"#))) }
    #expect(throws: AccessTokenRefusal.notYetValid) { try verify(token(payload(#""nbf":\#(now + 61)"#))) }
    #expect(throws: Never.self) { try verify(token(payload(#""nbf":\#(now + 60).75"#))) }
  }

  @Test(arguments: [
    #"{"alg":"none"}"#, #"{"alg":"None","typ":"JWT"}"#, #"{"alg":"HS384"}"#, #"{"alg":"RS256"}"#,
    #"{"typ":"JWT"}"#,
    #"{"alg":"hs256"}"#, #"{"alg":["HS256"]}"#,
  ])
  func `no algorithm but HS256, however well it is signed`(header: String) {
    #expect(throws: AccessTokenRefusal.unsupportedAlgorithm) { try verify(token(header: header, payload())) }
    let unsigned =
      token(header: header, payload()).split(separator: ".").prefix(2).joined(separator: ".") + "."
    #expect(throws: AccessTokenRefusal.unsupportedAlgorithm) { try verify(unsigned) }
  }

  @Test func `any changed byte is noticed`() throws {
    let good = token(payload(#""sub":"ada""#))
    for index in good.indices where good[index] != "." {
      var changed = good
      changed.replaceSubrange(index...index, with: good[index] == "A" ? "B" : "A")
      #expect(throws: AccessTokenRefusal.self) { try verify(changed) }
    }
    #expect(throws: AccessTokenRefusal.wrongSignature) {
      try verify(token(payload(), secret: "another secret, also long enough"))
    }
    #expect(throws: AccessTokenRefusal.wrongSignature) {
      try verify(good.split(separator: ".").prefix(2).joined(separator: ".") + ".")
    }
    #expect(throws: AccessTokenRefusal.unknownKey) {
      try verify(token(#"{"iss":"stranger","exp":\#(now + 9)}"#))
    }
  }

  @Test func `an absent token is distinguished from a malformed one`() {
    #expect(throws: AccessTokenRefusal.absent) { try verify(nil) }
    #expect(throws: AccessTokenRefusal.absent) { try verify("") }
    let good = token(payload())
    for text in [
      ".", "..", "...", "a.b.c", good + ".", good + "=", " " + good, good + "\n", "é.é.é",
      String(good.dropLast(1)) + "+", good.replacing(".", with: ".="),
      String(repeating: "A", count: AccessToken.maximumBytes),
    ] {
      #expect { try verify(text) } throws: {
        if case AccessTokenRefusal.malformed = $0 { true } else { false }
      }
    }
    #expect(throws: AccessTokenRefusal.tooLong) {
      try verify(String(repeating: "A", count: AccessToken.maximumRenewedBytes + 1))
    }
    #expect(AccessTokenRefusal.tooLong.status == 401 && AccessTokenRefusal.tooLong.code == "token-too-long")
  }

  @Test(arguments: [
    #"{"iss":"APIkey"}"#, #"{"iss":"APIkey","exp":"1990000000"}"#, #"{"iss":"APIkey","exp":null}"#,
    #"{"iss":"APIkey","exp":1e300}"#, #"{"iss":"APIkey","exp":1e999}"#, #"{"iss":7,"exp":1990000000}"#,
    #"{"exp":1990000000}"#, #"[1]"#, #""x""#, "", "{}x", #"{"iss":"APIkey","exp":1990000000,}"#,
    #"{"iss":"APIkey","exp":1990000000,"exp":1990000000}"#,
    #"{"iss":"other","iss":"APIkey","exp":1990000000}"#,
    #"{"iss":"APIkey","exp":1990000000,"video":{"room":"a","room":"b"}}"#,
    #"{"iss":"APIkey","exp":1990000000,"video":{"roomJoin":"true"}}"#,
    #"{"iss":"APIkey","exp":1990000000,"video":{"roomJoin":1}}"#,
    #"{"iss":"APIkey","exp":1990000000,"video":[]}"#,
    #"{"iss":"APIkey","exp":1990000000,"video":{"canPublishSources":[1]}}"#,
    #"{"iss":"APIkey","exp":1990000000,"video":{"room":"a\u0000b"}}"#,
    #"{"iss":"APIkey","exp":1990000000,"sub":"a\nb"}"#, #"{"iss":"APIkey","exp":1990000000,"sub":7}"#,
    #"{"iss":"APIkey","exp":1990000000,"name":"\ud800"}"#, #"{"iss":"APIkey","exp":01990000000}"#,
    #"{"iss":"APIkey","exp":1990000000,"attributes":{"a":1}}"#,
    "{\"iss\":\"APIkey\",\"exp\":1990000000,\"name\":\"\t\"}",
  ])
  func `a payload that two readers could take differently is refused`(payload: String) {
    #expect { try verify(token(payload)) } throws: {
      if case AccessTokenRefusal.malformed = $0 { true } else { false }
    }
  }

  @Test func `what grows without bound is refused`() {
    let many = (0..<10_000).map { #""k\#($0)":"""# }.joined(separator: ",")
    let some = (0..<257).map { #""k\#($0)":"""# }.joined(separator: ",")
    let deep = String(repeating: "[", count: 2000) + String(repeating: "]", count: 2000)
    for rest in [
      #""attributes":{\#(many)}"#, #""attributes":{\#(some)}"#, #""x":\#(deep)"#,
      #""metadata":"\#(String(repeating: "m", count: 65_537))""#,
      #""sub":"\#(String(repeating: "s", count: 129))""#,
      #""attributes":{"k":"\#(String(repeating: "v", count: 65_536))"}"#,
    ] {
      #expect { try verify(token(payload(rest))) } throws: {
        switch $0 {
        case AccessTokenRefusal.malformed, AccessTokenRefusal.tooLong: true
        default: false
        }
      }
    }
  }

  @Test func `text with too many combining marks in a row is refused before the signature is looked at`()
    throws
  {
    let pair = "\u{301}\u{316}"
    let (few, many) = ("a" + String(repeating: pair, count: 15), "a" + String(repeating: pair, count: 16))
    #expect(try verify(token(payload(#""metadata":"\#(few)","\#(few)":0"#))).metadata == few)
    for rest in [#""metadata":"\#(many)""#, #""\#(many)":0"#] {
      #expect(throws: AccessTokenRefusal.malformed(reason: "payload is no JSON object")) {
        try verify(token(payload(rest), secret: "another secret, also long enough"))
      }
    }
  }

  @Test func `a sound token for something else costs 403`() throws {
    let join = try verify(token(payload(#""sub":"ada","video":{"roomJoin":true,"room":"a"}"#)))
    #expect(throws: AccessTokenRefusal.notForThis(missing: "room")) { try join.requireJoin(room: "b") }
    #expect(throws: AccessTokenRefusal.notForThis(missing: "roomAdmin")) { try join.requireAdmin(room: "a") }
    let unnamed = try verify(token(payload(#""video":{"roomJoin":true,"room":"a"}"#)))
    #expect(throws: AccessTokenRefusal.notForThis(missing: "sub")) { try unnamed.requireJoin(room: "a") }
    let everywhere = try verify(token(payload(#""sub":"ada","video":{"roomJoin":true}"#)))
    #expect(throws: AccessTokenRefusal.notForThis(missing: "room")) { try everywhere.requireJoin(room: "a") }
    let admin = try verify(token(payload(#""video":{"roomAdmin":true,"room":"*"}"#)))
    #expect(throws: Never.self) { try admin.requireAdmin(room: "any") }
    #expect(AccessTokenRefusal.notForThis(missing: "room").status == 403)
    #expect(AccessTokenRefusal.expired.status == 401)
  }

  @Test func `base64url has one spelling for each value`() {
    for bytes: [UInt8] in [[], [0], [255, 254], [1, 2, 3], Array(0...255)] {
      #expect(Base64URL.decode(Base64URL.encode(bytes).utf8) == bytes)
    }
    for text in ["A", "AB", "ABC", "AA=", "AA==", "A+AA", "A/AA", "AA AA", "AAAAA"] {
      #expect(Base64URL.decode(text.utf8) == nil, "\(text)")
    }
    #expect(Base64URL.encode([255, 254]) == "__4")
  }

  @Test(arguments: ["[]", "null"]) func `an empty list of sources is no restriction`(sources: String) throws {
    let grants = try verify(
      token(payload(#""sub":"a","video":{"roomJoin":true,"room":"r","canPublishSources":\#(sources)}"#))
    ).grants
    #expect(grants.canPublishSources == nil)
    for source in TrackSource.allCases {
      #expect(grants.mayPublish(source, as: .audio) || grants.mayPublish(source, as: .video), "\(source)")
    }
  }

  @Test(arguments: [#"["hologram"]"#, #"["camera "]"#, #"[""]"#])
  func `sources of unknown names allow nothing`(sources: String) throws {
    let grants = try verify(
      token(payload(#""sub":"a","video":{"roomJoin":true,"room":"r","canPublishSources":\#(sources)}"#))
    ).grants
    for source in TrackSource.allCases {
      for kind in [MediaKind.audio, .video] { #expect(!grants.mayPublish(source, as: kind), "\(source)") }
    }
  }

  @Test(arguments: ["", ".", "..", "*", "a\u{0}b", "\u{85}", String(repeating: "x", count: 129)])
  func `what is no name`(text: String) { #expect(!AccessToken.isName(text)) }

  @Test(arguments: ["...", ".a", "a*", "**", " ", "ä"]) func `what is a name`(text: String) {
    #expect(AccessToken.isName(text))
  }

  @Test func `an administrator holds its own room, or with an asterisk all`() throws {
    for (room, administers) in [("demo", ["demo"]), ("*", ["demo", "other"]), (nil, [])]
      as [(String?, [String])]
    {
      var grants = Grants()
      grants.roomAdmin = true
      grants.room = room
      let token = AccessToken(apiKey: "k", identity: nil, expires: now, grants: grants)
      for name in ["demo", "other"] {
        let isAllowed = (try? token.requireAdmin(room: name)) != nil
        #expect(isAllowed == administers.contains(name), "\(room ?? "none") \(name)")
      }
    }
  }
}
