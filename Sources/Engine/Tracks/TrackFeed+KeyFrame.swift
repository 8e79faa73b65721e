internal import Media
internal import Model

/// Single pictures out of what is kept.
extension TrackFeed {
  /// The numbers of the last key frame's packets; nil where one of them isn't kept, there are too many, or it may not be shown.
  func keptKeyFrame() -> ClosedRange<Int64>? {
    guard let first = picture.first, let start = find(first) else { return nil }
    var bytes = 0
    for sequence in first..<first &+ PictureStart.mostPackets {
      guard let kept = find(sequence), kept.info.timestamp == start.info.timestamp else { return nil }
      bytes += kept.packet.count
      guard bytes <= PictureStart.mostBytes else { return nil }
      if kept.info.flags.contains(.marker) { return first...sequence }
    }
    return nil
  }
}
