internal import Model
internal import Wire

/// Which stream is whose.
extension MediaSession {
  enum Claim {
    case granted(StreamMap.Stream)
    case refused(SessionDrop)
  }

  /// The least time between two changes of a section's SSRC: each costs new keys, and its subscribers a restart. Late
  /// packets of the one before don't take it back, either.
  private static let rebindInterval = Duration.milliseconds(100)

  /// A stream that the description didn't announce: the section that it names takes it, if it knows the payload
  /// type. The payload type alone never decides. Of a simulcast each encoding names itself (RFC 8852 §3).
  @inline(never)
  mutating func claim(
    _ header: RTPHeader, _ packet: UnsafeRawBufferPointer, _ found: FoundExtensions, arrival: Instant,
    _ changes: inout [StreamChange]
  ) -> Claim {
    guard !isOurs(header.ssrc) else { return .refused(.streamOfOurs) }
    guard let mid = found.mid, let index = section(named: mid, in: packet),
      let format = receiving.pointer(index).pointee.encoding(0).pointee.receiver.format(
        of: header.payloadType),
      let number = encoding(of: index, named: format.isRTX ? found.repairedRid : found.rid, in: packet)
    else { return .refused(.streamUnmapped) }
    let encoding = receiving.pointer(index).pointee.encoding(number)
    let old = encoding.pointee.receiver.ssrc
    if (format.isRTX ? encoding.pointee.receiver.rtxSSRC : old) != nil {
      guard
        arrival.nanoseconds &- encoding.pointee.reboundAt.nanoseconds >= Self.rebindInterval.wholeNanoseconds
      else { return .refused(.streamChurn) }
      encoding.pointee.reboundAt = arrival
    }
    if format.isRTX {
      forget(encoding.pointee.receiver.rtxSSRC, &changes)
      encoding.pointee.receiver.rtxSSRC = header.ssrc
    } else {
      forget(old, &changes)
      // What repaired the old stream would be taken for the new one's.
      if old != nil {
        forget(encoding.pointee.receiver.rtxSSRC, &changes)
        encoding.pointee.receiver.rtxSSRC = nil
      }
      encoding.pointee.receiver.rebind(ssrc: header.ssrc)
    }
    bind(index, &changes)
    guard let stream = streams.find(header.ssrc) else { return .refused(.streamTableFull) }
    return .granted(stream)
  }

  /// The section that a packet names.
  private func section(named mid: HeaderExtensionReader.Element, in packet: UnsafeRawBufferPointer) -> Int? {
    for named in mids where named.mid.matches(packet, mid) { return named.section }
    return nil
  }

  /// The encoding that a packet names, or the only one, which needs no name.
  private func encoding(
    of section: Int, named rid: HeaderExtensionReader.Element?, in packet: UnsafeRawBufferPointer
  ) -> Int? {
    let section = receiving.pointer(section)
    guard section.pointee.section?.namesEncodings == true else {
      // Of several, all are announced by their SSRCs.
      return section.pointee.encodings.count == 1 ? 0 : nil
    }
    guard let rid else { return nil }
    for index in 0..<section.pointee.encodings.count
    where section.pointee.encoding(index).pointee.ridBytes?.matches(packet, rid) == true {
      return index
    }
    return nil
  }

  private mutating func forget(_ ssrc: UInt32?, _ changes: inout [StreamChange]) {
    guard let ssrc else { return }
    if feedbackSSRC == ssrc { feedbackSSRC = 0 }
    streams.remove(ssrc)
    changes.append(StreamChange(ssrc: ssrc, isMapped: false))
  }

  /// Enters the streams of all tracks into the map.
  mutating func bindAll(_ changes: inout [StreamChange]) {
    #if PLANTED_DEFECTS
      if !PlantedDefect.isOn(.feedbackOfEnded) { feedbackSSRC = 0 }
    #else
      // Of a stream that has ended libwebrtc takes no feedback, and so none of those that go on.
      feedbackSSRC = 0
    #endif
    for index in 0..<receiving.count where receiving.pointer(index).pointee.isAgreed {
      bind(index, &changes)
    }
  }

  private mutating func bind(_ index: Int, _ changes: inout [StreamChange]) {
    for number in 0..<receiving.pointer(index).pointee.encodings.count {
      let encoding = receiving.pointer(index).pointee.encoding(number)
      if let ssrc = encoding.pointee.receiver.ssrc {
        bind(ssrc, index, number, isRTX: false, &changes)
        if feedbackSSRC == 0, !isOurs(ssrc) { feedbackSSRC = ssrc }
      }
      if let ssrc = encoding.pointee.receiver.rtxSSRC { bind(ssrc, index, number, isRTX: true, &changes) }
    }
  }

  private mutating func bind(
    _ ssrc: UInt32, _ section: Int, _ encoding: Int, isRTX: Bool, _ changes: inout [StreamChange]
  ) {
    guard !isOurs(ssrc) else { return }
    _ = streams.set(
      ssrc,
      StreamMap.Stream(
        section: UInt16(truncatingIfNeeded: section), encoding: UInt8(truncatingIfNeeded: encoding),
        isRTX: isRTX
      ))
    changes.append(StreamChange(ssrc: ssrc, isMapped: true))
  }

  /// Whether we send to this peer under the SSRC: what came by it could not be distinguished from what is said of ours
  /// (RFC 3550 §8.2).
  private func isOurs(_ ssrc: UInt32) -> Bool { ours[ssrc] != nil }
}
