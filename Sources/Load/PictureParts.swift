internal import SyntheticPeers

/// Puts the packets of pictures together: says which are whole.
///
/// A publisher's numbers run through a picture without a gap, so a picture is whole once its first packet, its last and as many between them
/// are there.
struct PictureParts {
  private struct Open {
    var track: SubscriberCounter.Source
    var frame: Int
    var first: Int?
    var last: Int?
    var packets: Set<Int> = []
    var viaRTX = false

    var isWhole: Bool {
      guard let first, let last else { return false }
      return packets.count == last - first + 1
    }
  }

  /// A picture that has come whole.
  struct Whole: Equatable {
    var publisher: Int
    var track: Int
    /// Its number in the track.
    var frame: Int
    var isKey: Bool
    /// A packet of it came as a retransmission.
    var viaRTX: Bool
  }

  /// Pictures that aren't whole; the oldest make room.
  static let limit = 64
  /// The oldest first.
  private var open: [Open] = []

  /// - Returns: the picture that this packet was the last to come of.
  mutating func note(_ arrival: SyntheticPeer.MediaArrival) -> Whole? {
    let track = SubscriberCounter.Source(publisher: arrival.publisher, track: arrival.track)
    let frame = arrival.frame
    let place: Int
    if let known = open.firstIndex(where: { $0.frame == frame.number && $0.track == track }) {
      place = known
    } else {
      if open.count >= Self.limit { open.removeFirst() }
      open.append(Open(track: track, frame: frame.number))
      place = open.count - 1
    }
    if frame.isStart { open[place].first = arrival.packet }
    if frame.isEnd { open[place].last = arrival.packet }
    open[place].packets.insert(arrival.packet)
    if arrival.viaRTX { open[place].viaRTX = true }
    guard open[place].isWhole else { return nil }
    let whole = open.remove(at: place)
    return Whole(
      publisher: arrival.publisher, track: arrival.track, frame: frame.number, isKey: frame.isKey,
      viaRTX: whole.viaRTX)
  }
}
