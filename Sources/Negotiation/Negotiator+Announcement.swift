public import Model

extension Negotiator {
  /// A stream of ours for the plan of our next offer, under an SSRC that this transport has not used.
  ///
  /// - Parameter other: the stream that it is played in step with; nil: none yet.
  public mutating func announcement(
    of kind: MediaKind, beside other: TrackAnnouncement?, random: inout RandomSource
  ) -> TrackAnnouncement {
    let remote = Set(sections.compactMap(\.receive).flatMap { $0.encodings.flatMap(\.ssrcs) })
    let streamID = other?.streamID ?? random.alphanumeric(20)
    return TrackAnnouncement(
      kind: kind, ssrc: newSSRC(avoiding: remote, &random),
      rtxSSRC: kind == .video ? newSSRC(avoiding: remote, &random) : nil,
      cname: other?.cname ?? random.alphanumeric(16), streamID: streamID,
      trackID: "\(streamID)-\(kind.media)")
  }
}
