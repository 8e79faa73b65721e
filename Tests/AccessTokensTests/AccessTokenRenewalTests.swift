import Model
import Testing

@testable import AccessTokens

/// Tokens that the server renews for those who are in.
extension AccessTokenTests {
  @Test func `a renewed token lives as long as the first from its issue, ten minutes at most`() {
    for (expires, issued, notBefore, lifetime) in [
      (now + 60, now, nil, 60), (now + 6 * 3_600, now, nil, 600), (now + 600, nil, 0, 600),
      (now + 30, nil, nil, 600), (now + 600, now + 600, nil, 1), (now + 1, now + 50, nil, 1),
      (Int.max, -2, nil, 600),
    ] as [(Int, Int?, Int?, Int)] {
      let first = AccessToken(
        apiKey: "k", identity: "ada", expires: expires, notBefore: notBefore, issuedAt: issued,
        grants: .join("r"))
      var grants = Grants.join("r")
      grants.canPublish = false
      let second = first.renewed(at: now + 5, grants: grants)
      #expect(second.expires == now + 5 + lifetime && second.issuedAt == now + 5)
      #expect(second.notBefore == nil && second.grants == grants, "what was taken away stays so")
      let third = second.renewed(at: now + 10, grants: grants)
      #expect(third.expires == now + 10 + lifetime, "it doesn't grow by being renewed")
    }
  }

  @Test func `what a token allows is the same after it has been renewed, again and again`() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = RandomSource.seeded(state: seed)
    let names = TrackSource.allCases.map(\.rawValue) + ["hologram", "", "CAMERA", "camera "]
    let flags = [
      "roomJoin", "canPublish", "canSubscribe", "canPublishData", "canUpdateOwnMetadata", "hidden",
      "recorder",
      "roomCreate", "roomList", "roomAdmin",
    ]
    for _ in 0..<500 {
      var video = [#""room":"r""#]
      for flag in flags where Bool.random(using: &random) {
        video.append(#""\#(flag)":\#(Bool.random(using: &random))"#)
      }
      if Bool.random(using: &random) {
        let sources = (0..<Int.random(in: 0...3, using: &random)).map { _ in
          #""\#(names.randomElement(using: &random) ?? "")""#
        }
        video.append(#""canPublishSources":[\#(sources.joined(separator: ","))]"#)
      }
      var read = try verify(
        token(payload(#""sub":"ada","video":{\#(video.joined(separator: ","))}"#)))
      let first = read.grants
      for _ in 0..<2 {
        read = try verify(read.renewed(at: now, grants: read.grants).signed(secret: keys["APIkey"] ?? ""))
        #expect(read.grants == first, "\(video) with seed \(seed)")
      }
    }
  }

  @Test(arguments: [#"\n"#, #"\t"#, #"\""#, "x", "\u{7F}", "é", #"\u0001"#])
  func `a token of the full length can be renewed, whatever it is made of and whatever has changed`(
    text: String
  ) throws {
    let bare = payload(#""sub":"ada","metadata":"","video":{"roomJoin":true,"room":"r"}"#)
    func full(_ count: Int) -> String {
      token(
        header: #"{"alg":"HS256"}"#,
        bare.replacing(#""metadata":"""#, with: #""metadata":"\#(String(repeating: text, count: count))""#))
    }
    // Four bytes of a token carry three.
    var count = (AccessToken.maximumBytes - full(0).utf8.count) * 3 / 4 / text.utf8.count
    while full(count).utf8.count > AccessToken.maximumBytes { count -= 1 }
    #expect(full(count).utf8.count > AccessToken.maximumBytes - 32)
    #expect(throws: AccessTokenRefusal.tooLong) { try verify(full(count + 60)) }
    var read = try verify(full(count))
    for sources in [Set(TrackSource.allCases), []] {
      var grants = read.grants
      grants.canSubscribe = false
      grants.canPublish = false
      grants.canPublishData = true
      grants.canUpdateOwnMetadata = true
      grants.canPublishSources = sources
      read = try verify(read.renewed(at: now, grants: grants).signed(secret: keys["APIkey"] ?? ""))
      #expect(read.grants == grants)
    }
  }
}
