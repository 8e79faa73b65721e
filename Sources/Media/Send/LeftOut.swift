/// What of its encoding a stream leaves out: by which rule, what it was since the source was joined, and what its subscriber reads
/// of that.
@usableFromInline
struct LeftOut: ~Copyable {
  var filter = LayerFilter()
  var closed = ClosedPlaces()
  var targets = SentTargets()

  /// Something is left out, may be, or was since the source was joined.
  var isActive: Bool { filter.isActive || closed.isAny }

  /// Whether a packet that was passed on is the last of its picture in the stream, as far as is known by now.
  func ends(_ info: PacketInfo) -> Bool {
    info.flags.contains(.endsLayerFrame)
      && (info.layer.spatial == filter.spatial || closed.isClosed(info.extendedSequence &+ 1))
  }

  /// The source is joined to the stream.
  mutating func join() {
    filter.join()
    closed.beginAgain()
  }
}
