import AccessTokens
import Crypto
import Foundation
import Model
import Testing

@testable import Push

@Suite("The provider token of APNs", .timeLimit(.minutes(2)))
struct ProviderTokenTests {
  private let key: SigningKey

  init() throws {
    let identity = try TLSIdentity(
      selfSignedFor: [], names: ["roost.test"], notBefore: 1_700_000_000, notAfter: 4_000_000_000)
    key = try SigningKey(pem: identity.privateKey)
  }

  private var token: ProviderToken { ProviderToken(key: key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ") }

  private static let start = Instant(nanoseconds: 5_000_000_000)
  private static let day = WallTime(milliseconds: 1_800_000_000_999)

  /// After so many minutes, on both clocks.
  private func times(_ minutes: Double) -> (Instant, WallTime) {
    (Self.start + .seconds(minutes * 60), Self.day.advanced(by: .seconds(minutes * 60)))
  }

  private func text(_ token: inout ProviderToken, _ minutes: Double) -> String {
    let (now, wall) = times(minutes)
    return token.text(now: now, wall: wall)
  }

  private func next(_ token: inout ProviderToken, after refused: String, _ minutes: Double) -> String? {
    let (now, wall) = times(minutes)
    return token.text(insteadOf: refused, now: now, wall: wall)
  }

  @Test func `it is a JWT with the key's id, the team and the time, and a signature of 64 bytes`() throws {
    var token = token
    let parts = text(&token, 0).split(separator: ".").map { Base64URL.decode($0.utf8) }
    #expect(parts.count == 3 && parts[2]?.count == 64)
    #expect(
      parts[0].map { String(decoding: $0, as: UTF8.self) } == #"{"alg":"ES256","kid":"ABC123DEFG"}"#)
    #expect(
      parts[1].map { String(decoding: $0, as: UTF8.self) } == #"{"iat":1800000000,"iss":"DEF123GHIJ"}"#)
  }

  @Test func `it is the same for forty minutes, and then another`() {
    var token = token
    let first = text(&token, 0)
    for minutes in [0.1, 19, 21, 39.9] { #expect(text(&token, minutes) == first) }
    let second = text(&token, 40)
    #expect(second != first && text(&token, 79.9) == second && text(&token, 80) != second)
  }

  @Test func `one that is called expired is another at once, but never within twenty minutes`() throws {
    var token = token
    let first = text(&token, 0)
    for minutes in [0, 1, 19.9] { #expect(next(&token, after: first, minutes) == nil) }
    let second = try #require(next(&token, after: first, 20))
    #expect(second != first && text(&token, 20) == second)
    // What was sent with the first is answered later: it has the second, and none is made.
    #expect(next(&token, after: first, 21) == second)
    #expect(next(&token, after: second, 39.9) == nil)
    #expect(next(&token, after: second, 40) != nil)
  }

  @Test func `it is as old as the clock says that has it older`() {
    var asleep = token
    let first = asleep.text(now: Self.start, wall: Self.day)
    // The machine slept, and one clock with it.
    #expect(asleep.text(now: Self.start + .seconds(1), wall: Self.day.advanced(by: .seconds(3_000))) != first)
    var setBack = token
    let other = setBack.text(now: Self.start, wall: Self.day)
    let yesterday = Self.day.advanced(by: .seconds(-86_400))
    #expect(setBack.text(now: Self.start + .seconds(2_399), wall: yesterday) == other)
    #expect(setBack.text(now: Self.start + .seconds(2_400), wall: yesterday) != other)
  }

  @Test func `whatever comes when, none is made within twenty minutes, and none is sent after fifty`() throws
  {
    for seed in 0..<20 as Range<UInt64> {
      var random = RandomSource.seeded(state: seed)
      var token = token
      var (minutes, madeAt, last) = (0.0, -1_000.0, "")
      for _ in 0..<300 {
        minutes += Double.random(in: 0...[0.5, 5, 30].randomElement(using: &random)!, using: &random)
        let text = Bool.random(using: &random) ? text(&token, minutes) : next(&token, after: last, minutes)
        guard let text else { continue }
        if text != last {
          try #require(minutes - madeAt >= 20, "seed \(seed)")
          (madeAt, last) = (minutes, text)
        } else {
          try #require(minutes - madeAt < 50, "seed \(seed)")
        }
      }
    }
  }

  @Test func `those who send at once have one`() async {
    let tokens = ProviderTokens(
      token, clocks: PushClocks(wall: { Self.day }, instant: { Self.start }))
    let texts = await withTaskGroup(of: String.self) { group in
      for _ in 0..<50 { group.addTask { tokens.current } }
      return await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(texts.count == 1)
    #expect(tokens.next(after: tokens.current) == nil)
  }
}
