internal import Model

/// How the numbers of a source become those of the stream, from one packet on.
struct Anchor: BitwiseCopyable {
  /// The first sequence numbers in the source and in the stream.
  var source: Int64 = 0
  var outgoing: Int64 = 0
  var timestamp: UInt32 = 0
  /// Frames of the source before `drawnEnd` are drawn together: their distances to it are divided by `drawnBy`.
  var drawnEnd: UInt32 = 0
  var drawnBy: UInt32 = 1
  var pictureID: UInt16 = 0
  var tl0PictureIndex: UInt8 = 0
  var frameNumber: UInt16 = 0
  var restart: UInt8 = 0
  var encoding: UInt8 = 0
  /// Counts sources; an anchor of an earlier one can't be answered from the present one's history.
  var generation: UInt32 = 0
  /// It follows a packet that was dropped: what comes late from before still has its place, by the anchor before this one.
  /// No state: those places close when a peer is made from its bytes.
  var isCut = false
  /// What was left out before its first packet, and by which join that counts.
  var closedPlaces: Int64 = 0
  var closedPictures: UInt16 = 0
  var join: UInt8 = 0

  /// The stream's timestamp of a packet.
  @inline(__always)
  func timestamp(of source: UInt32) -> UInt32 {
    drawnBy == 1 ? source &+ timestamp : drawn(source) &+ timestamp
  }

  /// Where a packet stands on the source's clock once the time before is drawn together.
  @inline(never)
  func drawn(_ source: UInt32) -> UInt32 {
    isDrawn(source) ? drawnEnd &- (drawnEnd &- source) / drawnBy : source
  }

  /// Whether a packet is of the time that is drawn together.
  @inline(__always)
  func isDrawn(_ source: UInt32) -> Bool { drawnBy != 1 && Int32(bitPattern: drawnEnd &- source) > 0 }

  /// The stream's number of a packet.
  @inline(__always)
  func outgoing(_ sequence: Int64, _ selection: Selection) -> Int64 {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.placesStayOpen) { return outgoing &+ (sequence &- source) }
    #endif
    return outgoing &+ (sequence &- source) &- (selection.closedPlaces &- closedPlaces)
  }

  /// As it is behind more that was left out.
  @inline(__always)
  func behind(pictures: UInt16) -> Anchor {
    var anchor = self
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.pictureNotRewritten) { return anchor }
    #endif
    anchor.pictureID &-= pictures &- closedPictures
    return anchor
  }
}

/// What the next anchor has to settle.
struct PendingAnchor: BitwiseCopyable {
  /// A selected packet was dropped since the last one that departed: that one's number, where it had a place.
  var isCut = false
  var cutAt: Int64?
  var cutClosed: Int64 = 0
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
      writer.write(anchor.encoding)
      writer.write(anchor.generation)
      writer.write(anchor.closedPlaces)
      writer.write(anchor.closedPictures)
      writer.write(anchor.join)
      writer.write(anchor.drawnEnd)
      writer.write(anchor.drawnBy)
    }
  }

  /// - Parameter version: of the slot.
  init(from reader: inout StateReader, version: UInt8) throws(StateError) {
    let hasEncodings = version > 1
    count = try reader.count(limit: 4)
    for index in 0..<count {
      entries[index] = Anchor(
        source: try reader.integer(), outgoing: try reader.integer(), timestamp: try reader.integer(),
        pictureID: try reader.integer(), tl0PictureIndex: try reader.integer(),
        frameNumber: try reader.integer(), restart: try reader.integer(),
        encoding: hasEncodings ? try reader.integer() : 0, generation: try reader.integer())
      guard hasEncodings else { continue }
      entries[index].closedPlaces = try reader.integer()
      entries[index].closedPictures = try reader.integer()
      entries[index].join = try reader.integer()
      guard version > 2 else { continue }
      entries[index].drawnEnd = try reader.integer()
      let offset = reader.offset
      entries[index].drawnBy = try reader.integer()
      guard entries[index].drawnBy > 0 else {
        throw .invalid(field: "frames that are drawn together", offset: offset)
      }
    }
  }
}
