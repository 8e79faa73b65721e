import Glibc
import Model
import Negotiation
import Testing
import Wire

/// An offer costs its bytes, whatever it repeats: what a browser's costs is the measure. It is processor time of this thread
/// that is compared, which other suites beside it don't add to.
@Suite("What offers cost", .serialized, .timeLimit(.minutes(2)))
struct OfferCostTests {
  static let head = """
    v=0\r
    o=- 1 1 IN IP4 0.0.0.0\r
    s=-\r
    t=0 0\r
    a=group:BUNDLE 0\r
    a=ice-ufrag:abcd\r
    a=ice-pwd:abcdefghijklmnopqrstuvwx\r
    a=fingerprint:sha-256 \((0..<32).map { _ in "00" }.joined(separator: ":"))\r
    a=setup:actpass\r

    """

  static func section(_ formats: ClosedRange<Int>, _ lines: [String]) -> String {
    "m=video 9 UDP/TLS/RTP/SAVPF \(formats.map(String.init).joined(separator: " "))\r\nc=IN IP4 0.0.0.0\r\n"
      + (["a=mid:0", "a=sendonly", "a=rtcp-mux", "a=ssrc:1 cname:c", "a=rtpmap:20 VP8/90000"] + lines)
      .map { $0 + "\r\n" }.joined()
  }

  static func long(_ count: Int) -> String { String(repeating: "x=y;", count: count / 4) }

  /// Each about 200 KB.
  static let hostile: [(name: String, sdp: String)] = [
    (
      "retransmission formats with long parameters",
      head
        + section(
          20...127,
          (21...127).flatMap {
            ["a=rtpmap:\($0) rtx/90000", "a=fmtp:\($0) \(long(1_800))apt=20", "a=rtcp-fb:20 nack"]
          })
    ),
    (
      "retransmission formats with parameters of just the bound",
      head
        + section(
          20...127,
          (21...127).flatMap { ["a=rtpmap:\($0) rtx/90000", "a=fmtp:\($0) \(long(1_000))apt=20"] })
    ),
    (
      "the same codec under every number",
      head
        + section(
          20...127,
          (21...127).flatMap {
            ["a=rtpmap:\($0) H264/90000", "a=fmtp:\($0) \(long(900))profile-level-id=42e01f"]
          })
    ),
    (
      "feedback over and over",
      head + section(20...127, (0..<8_000).map { "a=rtcp-fb:* nack pli \($0 % 7)" })
    ),
    (
      "many encodings",
      head
        + section(
          20...20,
          (0..<4_000).map { "a=rid:r\($0) send pt=20" }
            + ["a=simulcast:send \((0..<32).map { "r\($0 * 100)" }.joined(separator: ";"))"])
    ),
    (
      "many extensions",
      head + section(20...20, (1..<256).map { "a=extmap:\($0) urn:x:\($0):\(long(780))" })
    ),
    (
      "many sources",
      head
        + section(
          20...20,
          (2..<3_000).flatMap { ["a=ssrc:\($0) cname:c", "a=ssrc-group:FID \($0) \($0 + 10_000)"] })
    ),
  ]

  /// What this thread has had of the processor.
  static func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// Seconds of the processor for one offer, the least of a few.
  func cost(_ sdp: String, rounds: Int = 4) throws -> Double {
    var best = Double.infinity
    for _ in 0..<rounds {
      var random = RandomSource.seeded(state: 1)
      var negotiator = Negotiator(policy: .server)
      let start = Self.processorSeconds()
      let offer = try SessionDescription(parsing: sdp)
      _ = try? negotiator.answer(to: offer, local: local, random: &random)
      best = min(best, Self.processorSeconds() - start)
    }
    return best
  }

  let local = LocalTransport(
    credentials: ICECredentials(ufrag: "serverserver", password: "serverserverserverserver"),
    fingerprint: Fingerprint(algorithm: .sha256, digest: Array(repeating: 7, count: 32)), candidates: [])

  @Test(arguments: Self.hostile.indices)
  func `no offer costs many times more per byte than a browser's`(index: Int) throws {
    let (name, sdp) = Self.hostile[index]
    let browser = try Offers.text("chromium-156-conference-offer.sdp")
    var ratio = Double.infinity
    // Caches are shared with what else runs: they are measured in turn.
    for _ in 0..<3 {
      let measure = try cost(browser) / Double(browser.utf8.count)
      ratio = min(ratio, try cost(sdp) / Double(sdp.utf8.count) / measure)
    }
    #expect(ratio < 4, "\(name): \(ratio) times as much per byte")
  }

  @Test func `parameters beyond their bound make a format none of ours`() throws {
    let offer = try SessionDescription(
      parsing: Self.head
        + Self.section(20...21, ["a=fmtp:20 \(Self.long(1_100))", "a=rtpmap:21 VP9/90000"]))
    var random = RandomSource.seeded(state: 1)
    var negotiator = Negotiator(policy: .server)
    let answer = try negotiator.answer(to: offer, local: local, random: &random)
    #expect(answer.agreement.media.receive.first?.codecs.map(\.payloadType) == [21])
  }
}
