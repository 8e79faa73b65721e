internal import Model

/// How the numbers of a source become those of the stream, from one packet on.
struct Anchor: BitwiseCopyable {
  /// The first sequence numbers in the source and in the stream.
  var source: Int64 = 0
  var outgoing: Int64 = 0
  var timestamp: UInt32 = 0
  var pictureID: UInt16 = 0
  var tl0PictureIndex: UInt8 = 0
  var frameNumber: UInt16 = 0
  var restart: UInt8 = 0
  /// Counts sources; an anchor of an earlier one can't be answered from the present one's history.
  var generation: UInt32 = 0
  /// It follows a packet that was dropped: what comes late from before still has its place, by the anchor before this one.
  /// No state: those places close when a peer is made from its bytes.
  var isCut = false
}

/// What the next anchor has to settle.
struct PendingAnchor: BitwiseCopyable {
  /// A selected packet was dropped since the last one that departed: that one's number, where it had a place.
  var isCut = false
  var cutAt: Int64?
  /// The source went on to a codec that the subscriber lacks before what it was joined with had left.
  var losesCodec = false
}

/// The last four anchors of a stream, the latest first.
struct Anchors: BitwiseCopyable {
  private var entries: InlineArray<4, Anchor> = InlineArray(repeating: Anchor())
  private(set) var count = 0

  @inline(__always)
  subscript(index: Int) -> Anchor {
    get { entries[index] }
    set { entries[index] = newValue }
  }

  mutating func push(_ anchor: Anchor) {
    for index in (1..<4).reversed() { entries[index] = entries[index &- 1] }
    entries[0] = anchor
    count = min(count &+ 1, 4)
  }

  init() {}

  func encode(into writer: inout StateWriter) {
    writer.write(UInt32(count))
    for index in 0..<count {
      let anchor = entries[index]
      writer.write(anchor.source)
      writer.write(anchor.outgoing)
      writer.write(anchor.timestamp)
      writer.write(anchor.pictureID)
      writer.write(anchor.tl0PictureIndex)
      writer.write(anchor.frameNumber)
      writer.write(anchor.restart)
      writer.write(anchor.generation)
    }
  }

  init(from reader: inout StateReader) throws(StateError) {
    count = try reader.count(limit: 4)
    for index in 0..<count {
      entries[index] = Anchor(
        source: try reader.integer(), outgoing: try reader.integer(), timestamp: try reader.integer(),
        pictureID: try reader.integer(), tl0PictureIndex: try reader.integer(),
        frameNumber: try reader.integer(), restart: try reader.integer(), generation: try reader.integer())
    }
  }
}
