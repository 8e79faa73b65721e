import Model
import Negotiation
import Wire

/// Offers for tests, put together line by line.
struct OfferText {
  var session = ["a=group:BUNDLE 0 1"]
  var sections: [[String]] = [Self.audio("0"), Self.video("1")]

  static let digest = Array(repeating: "AB", count: 32).joined(separator: ":")
  static let transport = [
    "a=ice-ufrag:remote", "a=ice-pwd:remotepasswordremotepassword", "a=fingerprint:sha-256 \(digest)",
    "a=setup:actpass",
  ]
  static let midID = "a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid"

  static func audio(_ mid: String, _ direction: String = "sendonly", ssrc: Int = 11) -> [String] {
    [
      "m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=mid:\(mid)", "a=\(direction)", "a=rtcp-mux",
      "a=rtpmap:111 opus/48000/2", midID,
    ]
      + transport + (direction.hasPrefix("send") ? ["a=ssrc:\(ssrc) cname:c"] : [])
  }
  static func video(_ mid: String, _ direction: String = "sendonly", ssrc: Int = 21) -> [String] {
    [
      "m=video 9 UDP/TLS/RTP/SAVPF 96 97", "a=mid:\(mid)", "a=\(direction)", "a=rtcp-mux",
      "a=rtpmap:96 VP8/90000",
      "a=rtcp-fb:96 nack", "a=rtcp-fb:96 nack pli", "a=rtpmap:97 rtx/90000", "a=fmtp:97 apt=96", midID,
    ] + transport
      + (direction.hasPrefix("send")
        ? ["a=ssrc:\(ssrc) cname:c", "a=ssrc:\(ssrc + 1) cname:c", "a=ssrc-group:FID \(ssrc) \(ssrc + 1)"]
        : [])
  }

  /// Puts a section to rest.
  mutating func stop(_ index: Int) {
    sections[index][0] = sections[index][0].replacing(" 9 ", with: " 0 ")
  }
  /// Exchanges, or with nil drops, the lines of a section that start like this.
  mutating func replace(_ start: String, with line: String?, in index: Int? = nil) {
    for place in sections.indices where index == nil || index == place {
      sections[place] = sections[place].compactMap { $0.hasPrefix(start) ? line : $0 }
    }
  }
  mutating func bundle(_ mids: String...) {
    session = ["a=group:BUNDLE " + mids.joined(separator: " ")]
  }

  func parsed() throws -> SessionDescription {
    let head = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0"]
    return try SessionDescription(parsing: (head + session + sections.joined()).joined(separator: "\r\n"))
  }
}

extension Negotiator {
  /// Answers with our usual end.
  mutating func answer(_ offer: OfferText, local end: LocalTransport = local(), seed: UInt64 = 1) throws
    -> Answer
  {
    var random = RandomSource.seeded(state: seed)
    return try answer(to: offer.parsed(), local: end, random: &random)
  }
}

extension Answer {
  var outcomes: [SectionResult.Outcome] { agreement.sections.map(\.outcome) }
}
