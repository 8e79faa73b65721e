import Model
import Wire

/// Which of our codecs a section has, and whether it can be taken at all, whatever stands in the others.
struct SectionCodecs {
  let kind: MediaKind
  let found: [NegotiatedCodec]
  /// Why it can't be taken.
  let refusal: DeclineReason?

  init(of section: MediaDescription, _ policy: NegotiationPolicy) {
    let known = MediaKind(media: section.media)
    kind = known ?? .audio
    if known == nil {
      (found, refusal) = ([], .unsupported)
    } else if !Self.profiles.contains(section.protocolName) {
      (found, refusal) = ([], .protocol)
    } else if !section.rtcpMux {
      (found, refusal) = ([], .rtcpMux)
    } else {
      found = section.forwardableCodecs(kind, policy)
      refusal = found.isEmpty ? .codec : nil
    }
  }

  /// JSEP wants all of these read as DTLS-SRTP (RFC 8829 §5.1.2).
  private static let profiles: Set = [
    "UDP/TLS/RTP/SAVPF", "UDP/TLS/RTP/SAVP", "TCP/TLS/RTP/SAVPF", "TCP/TLS/RTP/SAVP", "RTP/SAVPF", "RTP/SAVP",
    "RTP/AVPF", "RTP/AVP",
  ]
}
