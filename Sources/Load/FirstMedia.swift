internal import Model
internal import SyntheticPeers

/// When the first of what a participant gets was there.
struct FirstMedia {
  /// The first packet of media.
  private(set) var packetAt = Instant.never
  /// The first picture with which a decoder can begin: a key frame, all of it.
  private(set) var pictureAt = Instant.never
  private var parts = PictureParts()

  mutating func note(packetAt moment: Instant) { if packetAt == .never { packetAt = moment } }

  /// - Parameter isPicture: the packet is of a picture; a sound is none.
  mutating func note(_ arrival: SyntheticPeer.MediaArrival, isPicture: Bool) {
    note(packetAt: arrival.at)
    guard isPicture, pictureAt == .never, arrival.frame.isKey else { return }
    if parts.note(arrival) != nil { pictureAt = arrival.at }
  }
}
