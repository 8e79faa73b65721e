internal import Model
internal import Wire

/// Which decode targets a subscriber reads that it gets, so that it waits for none that don't come (AV1 RTP specification, A.8.2).
///
/// Where layers are left out, the descriptor of each frame's first packet says so: whichever of them is lost, the next one says it again.
struct SentTargets: BitwiseCopyable {
  private var targets = DecodeTargets()
  /// As its publisher says.
  private var active: UInt32 = 0
  /// Of the structure: its packet's number, and its templates.
  private var sequence: Int64 = .min
  private var firstTemplate: UInt8 = 0
  private var templateCount: UInt8 = 0
  /// A structure costs a thousand reads of bits and more for each subscriber; it comes with key frames. No state.
  private var structures = RateLimit(rate: 10, burst: 20)
  /// Since the structure the subscriber was given other targets than its publisher's.
  private var hasChanged = false

  init() {}

  /// - Parameters:
  ///   - element: the descriptor, as it came.
  ///   - info: of its packet.
  ///   - spatial: up to which layers the stream shows its source.
  /// - Returns: what changes; nil where it stays as it is.
  mutating func change(
    _ element: UnsafeRawBufferPointer, _ info: PacketInfo, spatial: UInt8, temporal: UInt8
  ) -> ActiveTargetsChange? {
    guard element.count >= DependencyDescriptor.minimumSize else { return nil }
    let flags =
      element.count > DependencyDescriptor.minimumSize ? element[DependencyDescriptor.minimumSize] : 0
    let hasStructure = flags & 0x80 != 0
    var offset: Int?
    if hasStructure {
      guard info.extendedSequence >= sequence, structures.take(now: info.arrival) else { return nil }
      offset = take(element, info.extendedSequence)
      guard offset != nil else { return nil }
    }
    guard (element[0] & 0x3F &+ 64 &- firstTemplate) & 63 < templateCount else { return nil }
    if flags & 0xC0 == 0x40, info.extendedSequence > sequence,
      let read = ActiveTargetsChange.read(element, count: targets.count)
    {
      active = read
    }
    let sent = active & targets.upTo(spatial: spatial, temporal: temporal)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.targetsNotRewritten) { return nil }
    #endif
    guard sent != 0, sent != active || hasChanged,
      flags & 0xC0 != 0 || info.flags.contains(.frameStart)
    else { return nil }
    hasChanged = true
    return ActiveTargetsChange(element, targets: sent, count: targets.count, offset: offset)
  }

  /// - Returns: where in the element its active targets stand; nil for one that is older than what is known, or is none.
  private mutating func take(_ element: UnsafeRawBufferPointer, _ number: Int64) -> Int? {
    guard number >= sequence else { return nil }
    var structure = DependencyStructure()
    guard let descriptor = try? DependencyDescriptor(element, &structure) else { return nil }
    if number > sequence {
      targets = structure.targets
      (firstTemplate, templateCount) = (structure.offset, structure.count)
      active = structure.active
      sequence = number
      hasChanged = false
    }
    return descriptor.targetsOffset
  }

  func encode(into writer: inout StateWriter) {
    targets.encode(into: &writer)
    writer.write(active)
    writer.write(sequence)
    writer.write(firstTemplate)
    writer.write(templateCount)
    writer.write(hasChanged)
  }

  init(from reader: inout StateReader) throws(StateError) {
    targets = try DecodeTargets(from: &reader)
    active = try reader.integer()
    sequence = try reader.integer()
    firstTemplate = try reader.integer()
    templateCount = try reader.integer()
    hasChanged = try reader.bool()
  }
}
