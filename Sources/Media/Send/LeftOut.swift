/// What of its encoding a stream leaves out: by which rule, and what it was since the source was joined.
@usableFromInline
struct LeftOut: ~Copyable {
  var filter = LayerFilter()
  var closed = ClosedPlaces()

  /// Something is left out, may be, or was since the source was joined.
  var isActive: Bool { filter.isActive || closed.isAny }

  /// The source is joined to the stream.
  mutating func join() {
    filter.join()
    closed.beginAgain()
  }
}
