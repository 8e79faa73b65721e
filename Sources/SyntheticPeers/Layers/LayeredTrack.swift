package import Model

/// One frame of a track in layers: of one encoding, one picture and one spatial layer.
package struct LayerFrame {
  package var encoding: Int
  /// Counts the encoding's pictures.
  package var picture: Int
  package var spatial: Int
  package var temporal: Int
  package var isKey: Bool
  /// Frames that it can't be shown without, by their places in the track.
  package var references: [Int]
  package var packets: Int
  package var timestamp: UInt32
  package var pictureID: UInt16
  package var tl0PictureIndex: UInt8
  package var sentAt: Instant
  package var bytes: Int
  /// Which of the track's moments it shows: the same in every encoding.
  package var moment = 0
}

/// All that was ever sent in a track with encodings or layers, beside what `PublishedTrack` has of every one.
package final class LayeredTrack {
  package struct Packet {
    package var frame: Int
    /// Its place in the frame, from 0.
    package var place: Int
  }

  package let video: LayeredVideo
  package private(set) var frames: [LayerFrame] = []
  /// By the numbers of `PublishedTrack`.
  package private(set) var packets: [Packet] = []
  /// By encoding: when the publisher heard that it is watched, or that it isn't, in turns; watched at first.
  package private(set) var watched: [[(at: Instant, isWatched: Bool)]]
  package let begunAt: Instant
  /// When pictures were made, each moment once for all encodings that were on.
  package private(set) var moments: [Instant] = []
  /// By encoding: timestamps are this at the publisher's own time zero.
  package internal(set) var bases: [UInt32] = []

  init(_ video: LayeredVideo, now: Instant) {
    self.video = video
    begunAt = now
    watched = Array(repeating: [], count: video.encodings.count)
  }

  func append(_ frame: LayerFrame) -> Int {
    frames.append(frame)
    return frames.count - 1
  }

  func append(packetOf frame: Int, place: Int) {
    packets.append(Packet(frame: frame, place: place))
    frames[frame].packets = place + 1
  }

  func note(bytes: Int, of frame: Int) { frames[frame].bytes += bytes }

  func noteMoment(_ now: Instant) { moments.append(now) }

  func noteWatched(_ encoding: Int, _ isWatched: Bool, now: Instant) {
    watched[encoding].append((now, isWatched))
  }

  /// Bits per second of one encoding up to a layer, with UDP and IP, in a span.
  package func rate(encoding: Int, spatial: Int, temporal: Int, from: Instant, until: Instant) -> Double {
    let bytes = frames[place(of: from)..<place(of: until)].reduce(0) {
      $1.encoding == encoding && $1.spatial <= spatial && $1.temporal <= temporal ? $0 + $1.bytes : $0
    }
    return Double(bytes) * 8e9 / Double((until - from).wholeNanoseconds)
  }

  /// The first frame that was sent at a moment or later.
  package func place(of moment: Instant) -> Int {
    var (low, high) = (0, frames.count)
    while low < high {
      let middle = (low + high) / 2
      if frames[middle].sentAt < moment { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Whether the publisher sent an encoding throughout a span.
  package func isSent(_ encoding: Int, from: Instant, until: Instant) -> Bool {
    let range = from.nanoseconds - begunAt.nanoseconds..<until.nanoseconds - begunAt.nanoseconds
    guard from >= begunAt, !video.encodings[encoding].absences.contains(where: { $0.overlaps(range) }) else {
      return false
    }
    guard video.obeysPublish else { return true }
    let before = watched[encoding].last { $0.at <= from }?.isWatched ?? true
    return before && !watched[encoding].contains { $0.at > from && $0.at < until && !$0.isWatched }
  }
}
