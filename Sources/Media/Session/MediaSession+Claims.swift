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
  /// type. The payload type alone never decides. Of a simulcast only the agreed encoding is taken, which names
  /// itself (RFC 8852 §3).
  @inline(never)
  mutating func claim(
    _ header: RTPHeader, _ packet: UnsafeRawBufferPointer, _ found: FoundExtensions, arrival: Instant,
    _ changes: inout [StreamChange]
  ) -> Claim {
    guard !isOurs(header.ssrc) else { return .refused(.streamOfOurs) }
    guard let mid = found.mid, let index = section(named: mid, in: packet),
      let format = receiving.pointer(index).pointee.receiver.format(of: header.payloadType)
    else { return .refused(.streamUnmapped) }
    let section = receiving.pointer(index)
    if section.pointee.section?.rid != nil {
      guard let rid = section.pointee.ridBytes, let named = format.isRTX ? found.repairedRid : found.rid,
        rid.matches(packet, named)
      else { return .refused(.streamUnmapped) }
    }
    let old = section.pointee.receiver.ssrc
    if (format.isRTX ? section.pointee.receiver.rtxSSRC : old) != nil {
      guard
        arrival.nanoseconds &- section.pointee.reboundAt.nanoseconds >= Self.rebindInterval.wholeNanoseconds
      else { return .refused(.streamChurn) }
      section.pointee.reboundAt = arrival
    }
    if format.isRTX {
      forget(section.pointee.receiver.rtxSSRC, &changes)
      section.pointee.receiver.rtxSSRC = header.ssrc
    } else {
      forget(old, &changes)
      // What repaired the old stream would be taken for the new one's.
      if old != nil {
        forget(section.pointee.receiver.rtxSSRC, &changes)
        section.pointee.receiver.rtxSSRC = nil
      }
      section.pointee.receiver.rebind(ssrc: header.ssrc)
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

  private mutating func forget(_ ssrc: UInt32?, _ changes: inout [StreamChange]) {
    guard let ssrc else { return }
    streams.remove(ssrc)
    changes.append(StreamChange(ssrc: ssrc, isMapped: false))
  }

  /// Enters the streams of all tracks into the map.
  mutating func bindAll(_ changes: inout [StreamChange]) {
    for index in 0..<receiving.count where receiving.pointer(index).pointee.isAgreed {
      bind(index, &changes)
    }
  }

  private mutating func bind(_ index: Int, _ changes: inout [StreamChange]) {
    let section = receiving.pointer(index)
    if let ssrc = section.pointee.receiver.ssrc, !isOurs(ssrc) {
      _ = streams.set(ssrc, StreamMap.Stream(receiver: Int32(index), isRTX: false))
      changes.append(StreamChange(ssrc: ssrc, isMapped: true))
      if feedbackSSRC == 0 { feedbackSSRC = ssrc }
    }
    if let ssrc = section.pointee.receiver.rtxSSRC, !isOurs(ssrc) {
      _ = streams.set(ssrc, StreamMap.Stream(receiver: Int32(index), isRTX: true))
      changes.append(StreamChange(ssrc: ssrc, isMapped: true))
    }
  }

  /// Whether we send to this peer under the SSRC: what came by it could not be distinguished from what is said of ours
  /// (RFC 3550 §8.2).
  private func isOurs(_ ssrc: UInt32) -> Bool { ours.contains(ssrc) }
}
