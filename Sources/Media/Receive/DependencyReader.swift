internal import Model
internal import Wire

/// What dependency descriptors say of the packets of one encoding (AV1 RTP specification, appendix A).
struct DependencyReader: BitwiseCopyable {
  private(set) var structure = DependencyStructure()
  /// The packet that brought the structure; one of before it doesn't bring it back.
  private(set) var structureSequence: Int64 = .min
  /// The picture that came last, and the lowest number of its frames that has been seen.
  private var timestamp: UInt32 = 0
  private var firstFrame: UInt16 = 0
  private var hasPicture = false
  /// The packet that came last in order, and whether its frame ends with it. No state: of the first behind a move nothing is judged.
  private var last: (sequence: Int64, endsFrame: Bool) = (.min, true)
  /// The packet described last begins a frame, and the frame right before it never ended: its rest was never sent. No number is missing,
  /// so nothing asks for that rest, and receivers wait for what refers to it until they give up. Encoders of browsers leave out a
  /// frame's last packet now and then.
  private(set) var followsUnfinished = false

  init() {}

  /// The source is another: its timestamps and its frames' numbers are nothing to those of before.
  mutating func startOver() {
    hasPicture = false
    last = (.min, true)
    followsUnfinished = false
  }

  /// The size of pictures by layer of size, where the structure says it.
  private(set) var pictures = EncodingDescription().pictures

  /// Says of a packet what its descriptor says; that counts more than what its payload says.
  /// - Parameter isLate: a packet behind it has come already.
  /// - Returns: whether its frame is of a template that is known; nil for an element that is no descriptor.
  mutating func describe(_ element: UnsafeRawBufferPointer, isLate: Bool, _ info: inout PacketInfo) -> Bool? {
    guard let descriptor = read(element, isLate: isLate, info.extendedSequence) else { return nil }
    info.carried.frameNumber = descriptor.frameNumber
    noteEnd(of: descriptor, info.extendedSequence, isLate: isLate)
    info.flags.subtract([.frameStart, .endsLayerFrame])
    if descriptor.startsFrame { info.flags.insert(.frameStart) }
    if descriptor.endsFrame { info.flags.insert(.endsLayerFrame) }
    guard let frame = descriptor.frame else {
      info.flags.insert(.layerUnknown)
      return false
    }
    info.flags.subtract([
      .keyFrame, .discardable, .switchingPoint, .switchesFromBelow, .beginsSpatialLayer, .notNeededAbove,
      .topSpatialLayer,
    ])
    info.layer = LayerID(spatial: frame.spatial, temporal: frame.temporal)
    info.layer.opens = frame.opens
    if frame.isDiscardable { info.flags.insert(.discardable) }
    if frame.isNotNeededAbove { info.flags.insert(.notNeededAbove) }
    if frame.isTop { info.flags.insert(.topSpatialLayer) }
    #if PLANTED_DEFECTS
      let refersToNothing = frame.farthest == 0 || PlantedDefect.isOn(.keyFrameByStructure)
    #else
      let refersToNothing = frame.farthest == 0
    #endif
    if descriptor.startsFrame, descriptor.hasStructure, refersToNothing { info.flags.insert(.keyFrame) }
    notePicture(info.timestamp, descriptor.frameNumber)
    // Every packet of the frame says so: the first may be lost.
    if frame.opens & 1 << frame.temporal != 0, timestamp == info.timestamp,
      frame.farthest <= descriptor.frameNumber &- firstFrame
    {
      info.flags.insert(.beginsSpatialLayer)
    }
    return true
  }

  private mutating func noteEnd(of descriptor: DependencyDescriptor, _ sequence: Int64, isLate: Bool) {
    followsUnfinished = false
    if isLate { return }
    followsUnfinished = descriptor.startsFrame && !last.endsFrame && last.sequence == sequence &- 1
    last = (sequence, descriptor.endsFrame)
  }

  private mutating func read(
    _ element: UnsafeRawBufferPointer, isLate: Bool, _ sequence: Int64
  ) -> DependencyDescriptor? {
    if isLate {
      var known = structure
      let descriptor = try? DependencyDescriptor(element, &known)
      if let descriptor, descriptor.hasStructure, sequence > structureSequence { take(known, sequence) }
      return descriptor
    }
    guard let descriptor = try? DependencyDescriptor(element, &structure) else { return nil }
    if descriptor.hasStructure { take(structure, sequence) }
    return descriptor
  }

  mutating func take(_ new: DependencyStructure, _ sequence: Int64) {
    structure = new
    structureSequence = sequence
    for layer in 0..<DependencyStructure.spatialLimit {
      pictures[layer] = PictureSize(width: new.widths[layer], height: new.heights[layer])
    }
  }

  /// Frames of one picture have numbers one behind the other.
  private mutating func notePicture(_ moment: UInt32, _ frame: UInt16) {
    let isNewer = !hasPicture || Int32(bitPattern: moment &- timestamp) > 0
    if isNewer {
      hasPicture = true
      timestamp = moment
      firstFrame = frame
    } else if moment == timestamp, Int16(bitPattern: frame &- firstFrame) < 0 {
      firstFrame = frame
    }
  }
}
