import Model
import Negotiation
import Wire

/// One line for each section of an answer, as the tables of the tests spell it:
///
///     0 recvonly opus/111[transport-cc] PCMU/0 · 1 audioLevel, 4 mid
///     1 recvonly VP8/96+97 H264-42e01f-1/108+109: nack, nack pli · 4 mid · f
///     2 declined codec
///
/// MID, direction, codec with what tells it from others of its name, payload type, `+` RTX's, feedback (once if it is
/// the same for all); header extensions; the encoding accepted.
func summary(of answer: Answer) throws -> [String] {
  // Read back from its text: the peer has no more than that.
  let description = try SessionDescription(parsing: answer.sdp)
  return zip(description.media, answer.agreement.sections).map { section, result in
    let mid = section.mid ?? "?"
    switch (result.outcome, section.port) {
    case (.stopped, 0): return "\(mid) stopped"
    case (.declined(let reason), 0): return "\(mid) declined \(reason.rawValue)"
    case (.accepted, 1...): break
    default: return "\(mid): port \(section.port) does not go with \(result.outcome)"
    }
    let numbers = section.payloadTypes.filter { section.rtpMap(of: $0)?.encodingName != "rtx" }
    let feedback = numbers.map { number in
      section.feedback.filter { $0.payloadType == number }.map(\.kind).joined(separator: ", ")
    }
    let isCommon = Set(feedback).count == 1
    let codecs = zip(numbers, feedback).map { number, feedback in
      guard let map = section.rtpMap(of: number) else { return "\(number)?" }
      let rtx = section.formatParameters.first { $0["apt"] == "\(number)" }
      let parameters = section.parameters(of: number)
      let variant = ["profile-id", "profile-level-id", "packetization-mode", "profile"]
        .compactMap { parameters?[$0] }.map { "-" + $0 }.joined()
      return "\(map.encodingName)\(variant)/\(number)" + (rtx.map { "+\($0.payloadType)" } ?? "")
        + (isCommon || feedback.isEmpty ? "" : "[\(feedback)]")
    }
    let common = isCommon && !feedback[0].isEmpty ? ": " + feedback[0] : ""
    let extensions = section.shared.extensions.map { item in
      let name = HeaderExtension(uri: item.uri).map { "\($0)" } ?? item.uri
      return "\(item.id)\(item.direction.map { "/" + $0.rawValue } ?? "") \(name)"
    }
    let direction = section.shared.direction?.rawValue ?? "?"
    var parts = [
      "\(mid) \(direction) " + codecs.joined(separator: " ") + common, extensions.joined(separator: ", "),
    ]
    if !section.rids.isEmpty || section.simulcast != nil {
      let listed = section.simulcast?.receive.flatMap { $0 }.map(\.rid) ?? []
      let named = section.rids.map { $0.direction == .recv ? $0.rid : "!" + $0.rid }
      parts.append(listed == named ? listed.joined(separator: " ") : "rid \(named) but simulcast \(listed)")
    }
    return parts.joined(separator: " · ")
  }
}

/// Our end, as the tests use it.
func local(_ name: String = "home", candidates: [SocketAddress]? = nil, isLite: Bool = true) -> LocalTransport
{
  LocalTransport(
    credentials: ICECredentials(ufrag: name, password: "\(name)" + String(repeating: "p", count: 24)),
    fingerprint: Fingerprint(algorithm: .sha256, digest: (0..<32).map { $0 }),
    candidates: candidates ?? [
      SocketAddress(high: 0x2001_0db8 << 32, low: 7, port: 7882),
      SocketAddress(ipv4: 192, 0, 2, 7, port: 7882),
    ], isLite: isLite)
}
