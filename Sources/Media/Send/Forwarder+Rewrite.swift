internal import Model
internal import Wire

/// A rewritten packet in plain text, ready to be sealed.
public struct OutgoingPacket: BitwiseCopyable, Sendable {
  public var ssrc: UInt32
  /// Extended sequence number of its stream: rollover counter and sequence, as SRTP's index.
  public var index: UInt64
  public var headerSize: Int
  public var size: Int
  /// Where the transport-wide number goes, two bytes; 0 where the packet has none.
  public var numberOffset: Int
}

extension Forwarder {
  /// Header, mapped extensions and payload; for a retransmission with the original sequence number between.
  ///
  /// Of RED whose blocks go alone, the newest block is the payload.
  @inline(__always)
  mutating func write(
    _ packet: UnsafeRawBufferPointer, _ info: PacketInfo, format: CodecFormat, anchor: Anchor,
    payloadType: UInt8, isMarked: Bool, sequence: Int64, ssrc: UInt32, originalSequence: UInt16?,
    targets: ActiveTargetsChange?, at moment: Instant,
    into buffer: UnsafeMutableRawBufferPointer
  ) -> OutgoingPacket? {
    let contributors = Int(info.contributors)
    let extensionOffset = RTPHeader.fixedSize &+ 4 &* contributors
    let skipped = format.rawValue == info.format.rawValue ? 0 : Int(info.primaryOffset)
    let payloadOffset = Int(info.payloadOffset) &+ skipped
    let payloadSize = Int(info.payloadSize) &- skipped
    let carries = info.flags.contains(.carriesExtensions) && extensions.carries
    guard payloadSize >= 0, payloadOffset &+ payloadSize <= packet.count,
      extensionOffset <= payloadOffset,
      let from = packet.baseAddress, let to = buffer.baseAddress,
      var writer = RTPWriter(
        into: buffer, marker: isMarked, payloadType: payloadType,
        sequence: UInt16(truncatingIfNeeded: sequence), timestamp: anchor.timestamp(of: info.timestamp),
        ssrc: ssrc, csrcCount: contributors,
        form: carries ? extensions.form(carrying: info, targets) : .oneByte)
    else { return nil }
    for index in 0..<contributors {
      writer.setContributor(
        index, ssrc: from.loadBigEndian(at: RTPHeader.fixedSize &+ 4 &* index, as: UInt32.self))
    }
    let headerSize: Int
    let numberOffset: Int
    if carries {
      (headerSize, numberOffset) = extensions.write(
        info, of: packet, frameNumber: info.carried.frameNumber &+ anchor.frameNumber, targets, at: moment,
        to: writer)
    } else {
      guard let block = extensions.write(info, at: moment, to: writer, into: to + extensionOffset) else {
        return nil
      }
      headerSize = block.size
      numberOffset = block.numberOffset == 0 ? 0 : extensionOffset &+ block.numberOffset
    }
    var offset = headerSize
    let extra = originalSequence == nil ? 0 : RTX.sequenceSize
    guard headerSize &+ extra &+ payloadSize <= buffer.count else { return nil }
    if let originalSequence {
      to.storeBigEndian(originalSequence, at: offset)
      offset &+= RTX.sequenceSize
    }
    (to + offset).copyMemory(from: from + payloadOffset, byteCount: payloadSize)
    if info.pictureIDOffset | info.tl0PictureIndexOffset != 0 {
      rewritePictureID(info, anchor, at: to + offset, payloadSize: payloadSize)
    } else if format.rawValue != info.primaryFormat.rawValue {
      REDPayload.rewrite(
        UnsafeMutableRawBufferPointer(start: to + offset, count: payloadSize),
        olderBlocks: Int(info.olderBlocks),
        payloadType: formats.payloadTypes[Int(info.primaryFormat.rawValue)])
    }
    return OutgoingPacket(
      ssrc: ssrc, index: UInt64(bitPattern: sequence), headerSize: headerSize, size: offset &+ payloadSize,
      numberOffset: numberOffset)
  }

  /// Where a subscriber doesn't get all layers: the decode targets that the packet's descriptor is to name.
  /// - Parameter known: what the subscriber has read before.
  /// - Returns: nil where the descriptor stays as it is; counted, where it has no room.
  @inline(never)
  mutating func targetsChange(
    _ info: PacketInfo, _ packet: UnsafeRawBufferPointer, _ known: inout SentTargets, spatial: UInt8,
    temporal: UInt8
  ) -> ActiveTargetsChange? {
    let start = Int(info.carried.descriptorOffset)
    let end = start &+ Int(info.carried.descriptorSize)
    guard start > 0, end <= packet.count, extensions.takesDescriptors else { return nil }
    let element = UnsafeRawBufferPointer(rebasing: packet[start..<end])
    guard let change = known.change(element, info, spatial: spatial, temporal: temporal) else { return nil }
    guard extensions.holdsDescriptor(of: change.size) else {
      counters.descriptorsUnchanged &+= 1
      return nil
    }
    return change
  }

  private func rewritePictureID(
    _ info: PacketInfo, _ anchor: Anchor, at payload: UnsafeMutableRawPointer, payloadSize: Int
  ) {
    let pictureOffset = Int(info.pictureIDOffset)
    let isLong = info.flags.contains(.longPictureID)
    if pictureOffset != 0 && pictureOffset &+ (isLong ? 2 : 1) <= payloadSize {
      let value = info.pictureID &+ anchor.pictureID
      if isLong {
        payload.storeBigEndian(0x8000 | (value & 0x7FFF), at: pictureOffset)
      } else {
        payload.store(byte: UInt8(truncatingIfNeeded: value & 0x7F), at: pictureOffset)
      }
    }
    let indexOffset = Int(info.tl0PictureIndexOffset)
    if indexOffset != 0 && indexOffset < payloadSize {
      payload.store(byte: info.tl0PictureIndex &+ anchor.tl0PictureIndex, at: indexOffset)
    }
  }
}
