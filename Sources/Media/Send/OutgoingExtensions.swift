internal import Model
internal import Wire

/// The header extensions of one slot's packets, under the subscriber's ids.
///
/// Most packets get a block that was laid out once, with the audio level and the time of sending put into their
/// places. Those that carry something of the media's own have their block written element by element.
struct OutgoingExtensions: Sendable {
  /// Laid out once: all that is the same in each packet.
  private var block = HeaderExtensionBlock()
  private var blockWithLevel = HeaderExtensionBlock()
  /// Where the values stand in a block that has them, from the block's start; 0 where there are none.
  private var levelOffset = 0
  private var timeOffset = 0
  private var timeOffsetWithLevel = 0
  private var numberOffset = 0
  private var numberOffsetWithLevel = 0

  private var mid: MIDBytes?
  private var ids = HeaderExtensionMap()
  private var allowsMixed = false
  /// The subscriber takes at least one extension that is passed on.
  private(set) var carries = false

  /// Packets have a transport-wide number.
  var hasNumber: Bool { numberOffset != 0 }

  init() {}

  init(_ section: SendSection) {
    ids = section.extensions
    allowsMixed = section.allowsMixedExtensions
    mid = ids[.mid] == 0 ? nil : MIDBytes(section.mid)
    carries = ids.hasCarried
    let form = form(withLevel: true)
    var level: Int?
    var time: Int?
    var number: Int?
    blockWithLevel = HeaderExtensionBlock(form: form) {
      appendOwn(&$0, level: &level, time: &time, number: &number)
    }
    levelOffset = (level ?? RTPHeader.fixedSize) - RTPHeader.fixedSize
    timeOffsetWithLevel = (time ?? RTPHeader.fixedSize) - RTPHeader.fixedSize
    numberOffsetWithLevel = (number ?? RTPHeader.fixedSize) - RTPHeader.fixedSize
    let withoutLevel = self.form(withLevel: false)
    var none: Int? = 0
    block = HeaderExtensionBlock(form: withoutLevel) {
      appendOwn(&$0, level: &none, time: &time, number: &number)
    }
    timeOffset = (time ?? RTPHeader.fixedSize) - RTPHeader.fixedSize
    numberOffset = (number ?? RTPHeader.fixedSize) - RTPHeader.fixedSize
  }

  private func form(withLevel: Bool) -> HeaderExtensionForm {
    var form = HeaderExtensionForm.oneByte
    if let mid { form.admit(id: ids[.mid], size: mid.count) }
    if withLevel && ids[.audioLevel] != 0 { form.admit(id: ids[.audioLevel], size: 1) }
    if ids[.absoluteSendTime] != 0 { form.admit(id: ids[.absoluteSendTime], size: AbsoluteSendTime.size) }
    if ids[.transportSequence] != 0 { form.admit(id: ids[.transportSequence], size: 2) }
    return form
  }

  /// - Parameter level: gets its place in the packet, unless it is something already.
  private func appendOwn(
    _ writer: inout RTPWriter, level: inout Int?, time: inout Int?, number: inout Int?
  ) {
    if let mid { writer.append(id: ids[.mid], mid) }
    if ids[.audioLevel] != 0, level == nil { level = writer.appendZeros(id: ids[.audioLevel], size: 1) }
    time =
      ids[.absoluteSendTime] == 0
      ? nil : writer.appendZeros(id: ids[.absoluteSendTime], size: AbsoluteSendTime.size)
    number = ids[.transportSequence] == 0 ? nil : writer.appendZeros(id: ids[.transportSequence], size: 2)
  }

  /// Closes the header with a block that was laid out.
  /// - Parameter place: where the block starts.
  /// - Returns: the header's size, and where from the block's start the transport-wide number goes, 0 where it has none; nil if
  ///   there is no room.
  @inline(__always)
  func write(
    _ info: PacketInfo, at moment: Instant, to writer: consuming RTPWriter,
    into place: UnsafeMutableRawPointer
  ) -> (size: Int, numberOffset: Int)? {
    if levelOffset != 0 && info.flags.contains(.audioLevel) {
      guard let size = writer.finish(with: blockWithLevel) else { return nil }
      place.store(byte: info.audioLevel, at: levelOffset)
      if timeOffsetWithLevel != 0 { writeTime(moment, place, timeOffsetWithLevel) }
      return (size, numberOffsetWithLevel)
    }
    guard let size = writer.finish(with: block) else { return nil }
    if timeOffset != 0 { writeTime(moment, place, timeOffset) }
    return (size, numberOffset)
  }

  @inline(__always)
  private func writeTime(_ moment: Instant, _ place: UnsafeMutableRawPointer, _ offset: Int) {
    AbsoluteSendTime.write(AbsoluteSendTime.units(nanoseconds: moment.nanoseconds), place, at: offset)
  }

  // MARK: - What is passed on

  /// The form that holds all that the packet carries; where the subscriber doesn't take both forms mixed, what
  /// the one-byte form can't hold is left out.
  @inline(never)
  func form(carrying info: PacketInfo, _ targets: ActiveTargetsChange?) -> HeaderExtensionForm {
    var form = form(withLevel: info.flags.contains(.audioLevel))
    guard allowsMixed else { return form }
    let carried = info.carried
    admit(
      .dependencyDescriptor, carried.descriptorOffset,
      targets.map { UInt8(truncatingIfNeeded: $0.size) } ?? carried.descriptorSize, &form)
    admit(.colorSpace, carried.colorSpaceOffset, carried.colorSpaceSize, &form)
    admit(.playoutDelay, carried.playoutDelayOffset, CarriedExtensions.playoutDelaySize, &form)
    admit(.absoluteCaptureTime, carried.captureTimeOffset, UInt8(AbsoluteCaptureTime.longSize), &form)
    return form
  }

  /// Closes the header with a block of the packet's own.
  /// - Returns: the header's size, and where in the packet the transport-wide number goes, 0 where it has none.
  @inline(never)
  func write(
    _ info: PacketInfo, of packet: UnsafeRawBufferPointer, frameNumber: UInt16,
    _ targets: ActiveTargetsChange?, at moment: Instant, to writer: consuming RTPWriter
  ) -> (size: Int, numberPlace: Int) {
    if let mid { writer.append(id: ids[.mid], mid) }
    if ids[.audioLevel] != 0, info.flags.contains(.audioLevel) {
      if let place = writer.appendZeros(id: ids[.audioLevel], size: 1) {
        writer.overwrite(info.audioLevel, at: place)
      }
    }
    if ids[.absoluteSendTime] != 0 {
      let units = AbsoluteSendTime.units(nanoseconds: moment.nanoseconds)
      if let place = writer.appendZeros(id: ids[.absoluteSendTime], size: AbsoluteSendTime.size) {
        writer.overwrite(UInt8(truncatingIfNeeded: units >> 16), at: place)
        writer.overwrite(UInt16(truncatingIfNeeded: units), at: place &+ 1)
      }
    }
    let number = ids[.transportSequence] == 0 ? nil : writer.appendZeros(id: ids[.transportSequence], size: 2)
    let carried = info.carried
    let descriptor =
      if let targets {
        append(targets, carried, packet, &writer)
      } else {
        carry(.dependencyDescriptor, carried.descriptorOffset, carried.descriptorSize, packet, &writer)
      }
    if let descriptor { writer.overwrite(frameNumber, at: descriptor &+ 1) }
    _ = carry(.colorSpace, carried.colorSpaceOffset, carried.colorSpaceSize, packet, &writer)
    _ = carry(
      .playoutDelay, carried.playoutDelayOffset, CarriedExtensions.playoutDelaySize, packet, &writer)
    appendCaptureTime(carried.captureTimeOffset, packet, &writer)
    return (writer.finish(), number ?? 0)
  }

  var takesDescriptors: Bool { ids[.dependencyDescriptor] != 0 }

  /// Whether a descriptor of so many bytes goes into a block that this subscriber takes.
  func holdsDescriptor(of size: Int) -> Bool {
    (allowsMixed ? HeaderExtensionForm.twoByte : form(withLevel: false)).holds(
      id: ids[.dependencyDescriptor], size: size)
  }

  private func append(
    _ change: ActiveTargetsChange, _ carried: CarriedExtensions, _ packet: UnsafeRawBufferPointer,
    _ writer: inout RTPWriter
  ) -> Int? {
    let start = Int(carried.descriptorOffset)
    guard start &+ Int(carried.descriptorSize) <= packet.count,
      let place = writer.appendZeros(id: ids[.dependencyDescriptor], size: change.size)
    else { return nil }
    let element = UnsafeRawBufferPointer(
      rebasing: packet[start..<start &+ Int(carried.descriptorSize)])
    for index in 0..<change.size { writer.overwrite(change.byte(index, element), at: place &+ index) }
    return place
  }

  /// In the longer form: the clock that it is read from is the one of the sender reports, so the estimate is exactly 0.
  private func appendCaptureTime(
    _ offset: UInt16, _ packet: UnsafeRawBufferPointer, _ writer: inout RTPWriter
  ) {
    let id = ids[.absoluteCaptureTime]
    guard offset != 0, id != 0,
      let time = AbsoluteCaptureTime.read(packet, at: Int(offset), isLong: false),
      let place = writer.appendZeros(id: id, size: AbsoluteCaptureTime.longSize)
    else { return }
    writer.overwrite(time.rawValue, at: place)
  }

  private func admit(
    _ kind: HeaderExtension, _ offset: UInt16, _ size: UInt8, _ form: inout HeaderExtensionForm
  ) {
    if offset != 0 && ids[kind] != 0 { form.admit(id: ids[kind], size: Int(size)) }
  }

  /// - Returns: where in the outgoing packet the data begins; nil where it is left out.
  private func carry(
    _ kind: HeaderExtension, _ offset: UInt16, _ size: UInt8, _ packet: UnsafeRawBufferPointer,
    _ writer: inout RTPWriter
  ) -> Int? {
    guard offset != 0, ids[kind] != 0, Int(offset) &+ Int(size) <= packet.count,
      let bytes = packet.baseAddress
    else { return nil }
    return writer.appendCopy(id: ids[kind], bytes + Int(offset), size: Int(size))
  }
}
