public import Model
public import Wire

/// ICE restarted apart from descriptions, as WHIP and WHEP do it (RFC 9725 §4.3.3): all that was agreed on stays.
extension Negotiator {
  /// The far end goes on with other credentials, and so do we.
  ///
  /// - Parameter local: ours from here on.
  /// - Returns: false: there is no transport, or an offer of ours is about to say something of it.
  public mutating func restartICE(
    remote credentials: ICECredentials, local: ICECredentials
  ) -> Bool {
    guard pending == nil, remote != nil else { return false }
    remote?.credentials = credentials
    localCredentials = local
    return true
  }

  /// Our end of the transport as a fragment: credentials and all candidates, in the section that carries the transport.
  /// - Parameters:
  ///   - group: the mids of the bundle, as offered; empty where there was none.
  ///   - options: of our answer.
  /// - Returns: nil: nothing is agreed on.
  public func fragment(
    _ local: LocalTransport, group: [String], options: [String]
  ) -> ICEFragment? {
    guard remote != nil, let credentials = localCredentials else { return nil }
    let carrier = sections.first { $0.isOpen && $0.mid == group.first } ?? sections.first { $0.isOpen }
    guard let carrier else { return nil }
    let formats = carrier.codecs.map { "\($0.payloadType)" }.joined(separator: " ")
    let section = ICEFragmentSection(
      line: "\(carrier.media) 9 UDP/TLS/RTP/SAVPF \(formats.isEmpty ? "0" : formats)", mid: carrier.mid,
      iceUfrag: credentials.ufrag, icePassword: credentials.password,
      candidates: local.candidates.enumerated().map { CandidateAttribute(host: $1, rank: $0) },
      endOfCandidates: true)
    return ICEFragment(
      isICELite: local.isLite, iceOptions: options,
      groups: group.isEmpty ? [] : [GroupAttribute(semantics: "BUNDLE", mids: group)], sections: [section])
  }
}
