internal import Model
internal import SyntheticPeers

/// Of a track in several encodings: which of its moments came as a whole picture, in whatever encoding the server chose.
struct MomentCount {
  private var parts = PictureParts()
  /// By track: moments that came lately, since two encodings may show the same where the server goes from one to the other.
  private var seen: [SubscriberCounter.Source: [Int]] = [:]
  private static let kept = 64

  /// - Parameter layers: what the publisher has sent in that track.
  /// - Returns: the picture as it is counted, with its moment in the place of a packet's number; nil where this packet makes none whole, or
  ///   its moment has come already.
  mutating func note(
    _ arrival: SyntheticPeer.MediaArrival, _ layers: LayeredTrack
  ) -> SyntheticPeer.MediaArrival? {
    guard let whole = parts.note(arrival), layers.frames.indices.contains(whole.frame) else { return nil }
    let moment = layers.frames[whole.frame].moment
    let track = SubscriberCounter.Source(publisher: whole.publisher, track: whole.track)
    var before = seen[track] ?? []
    guard !before.contains(moment) else { return nil }
    before.append(moment)
    if before.count > Self.kept { before.removeFirst() }
    seen[track] = before
    return SyntheticPeer.MediaArrival(
      publisher: whole.publisher, track: whole.track, packet: moment, viaRTX: whole.viaRTX, isRepeat: false,
      at: arrival.at)
  }
}
