internal import Congestion
internal import Crypto
internal import Model
internal import Wire

extension SyntheticPeer {
  func receiveMedia(
    _ bytes: [UInt8], path: NetworkPath, sentAt: Instant, isRepeat: Bool, now: Instant
  ) {
    // The server is connected when it has our Finished; its first packets may overtake its own.
    guard let session else { return }
    transport.lastHeard = now
    var packet = bytes
    let isRTCP = bytes.withUnsafeBytes { RTCPPacket.matches($0) }
    do throws(SRTPSession.Failure) {
      if isRTCP { try session.openRTCP(&packet) } else { try session.openRTP(&packet) }
    } catch {
      return refused(error, bytes, isRTCP: isRTCP, isRepeat: isRepeat, now: now)
    }
    if isRTCP {
      receiveRTCP(packet, now: now)
    } else {
      receiveRTP(packet, sentAt: sentAt, now: now)
    }
  }

  /// libsrtp refuses a second copy, and nothing else.
  private func refused(
    _ error: SRTPSession.Failure, _ bytes: [UInt8], isRTCP: Bool, isRepeat: Bool, now: Instant
  ) {
    if error.isReplay || error.isOld { network.refusals.repeated += 1 } else { network.refusals.forged += 1 }
    if network.isReal { return }
    if isRepeat && (error.isReplay || error.isOld) { return }
    // Without a retransmission stream the sealed bytes come again, which crosses with the late original.
    if !configuration.dialect.acceptsRTX && (error.isReplay || error.isOld) && !isRTCP { return }
    if error.isOld && isFarBehind(bytes) { return }
    journal.violation(
      now, "libsrtp of peer \(number) refuses \(isRTCP ? "RTCP" : "RTP"), status \(error.status)")
  }

  /// Reordered across a gap in the numbers that is longer than libsrtp's window.
  private func isFarBehind(_ bytes: [UInt8]) -> Bool {
    guard let header = bytes.withUnsafeBytes({ try? RTPHeader($0) }), let index = streamIndex[header.ssrc]
    else { return false }
    let distance = UInt16(truncatingIfNeeded: streams[index].highest) &- header.sequence
    return (1_000..<0x8000).contains(distance)
  }

  private func receiveRTP(_ packet: [UInt8], sentAt: Instant, now: Instant) {
    let problem: String? = packet.withUnsafeBytes { bytes in
      guard let header = try? RTPHeader(bytes) else { return "unreadable RTP" }
      guard let index = streamIndex[header.ssrc] else {
        return descriptions.awaitsAnswer ? nil : "a stream that was not announced"
      }
      return receive(bytes, header, of: index, sentAt: sentAt, now: now)
    }
    guard let problem else { return }
    if network.hasOthers {
      network.foreignPackets += 1
    } else {
      journal.violation(now, "peer \(number) received \(problem)")
    }
  }

  /// - Returns: what is wrong with the packet.
  private func receive(
    _ packet: UnsafeRawBufferPointer, _ header: RTPHeader, of index: Int, sentAt: Instant, now: Instant
  ) -> String? {
    let stream = streams[index]
    let isRTX = header.ssrc != stream.ssrc
    let agreed = stream.section.codecs.first {
      (isRTX ? $0.rtxPayloadType : $0.payloadType) == header.payloadType
    }
    guard let agreed else { return "payload type \(header.payloadType)" }
    var entry = ReceivedStream.Entry()
    var captured: NTPTime?
    if let problem = readExtensions(packet, header, stream, &entry, &captured, now: now) { return problem }
    if isRTX, header.payloadSize == 0, configuration.dialect.tellsArrivals { return nil }
    guard header.paddingSize == 0 else { return "padding" }

    var payload = UnsafeRawBufferPointer(
      rebasing: packet[header.payloadOffset..<header.payloadOffset + header.payloadSize])
    var sequence = header.sequence
    if isRTX {
      guard let original = RTX.originalSequence(of: packet, header) else {
        return "a retransmission of nothing"
      }
      sequence = original
      payload = UnsafeRawBufferPointer(rebasing: payload[RTX.sequenceSize...])
      journal.count(.subscriberRTX)
    }
    entry.viaRTX = isRTX
    entry.codec = agreed.codec
    entry.timestamp = header.timestamp
    entry.isMarked = header.marker
    entry.sentAt = sentAt
    if configuration.isEncoded {
      return receiveEncoded(payload, header, sequence: sequence, of: index, entry, now: now)
    }
    return receiveStamped(payload, header, sequence: sequence, stream, entry, captured, now: now)
  }

  /// Takes a packet of a synthetic source.
  private func receiveStamped(
    _ payload: UnsafeRawBufferPointer, _ header: RTPHeader, sequence: UInt16, _ stream: ReceivedStream,
    _ entry: ReceivedStream.Entry, _ captured: NTPTime?, now: Instant
  ) -> String? {
    var entry = entry
    let sentAt = entry.sentAt
    guard let stamp = read(payload, stream, &entry) else {
      return "a payload of no publisher, sequence number \(sequence), \(payload.count) bytes"
    }
    entry.publisher = Int32(stamp.publisher)
    entry.track = stamp.track
    entry.packet = stamp.packet
    entry.frame = stamp.frame
    if let captured, let problem = problem(captured: captured, entry) { return problem }
    // Where layers are left out a picture may end before its source's does.
    if stream.section.kind == .video, journal.layered[entry.trackName] == nil {
      guard header.marker == stamp.isFrameEnd else { return "a marker in the wrong place" }
    }
    if let problem = judge(Int(stream.section.index), stamp, sentAt) { return problem }
    let arrival = stream.receive(sequence, entry, now: now)
    var isRepeat = true
    if case .fresh = arrival { isRepeat = false }
    onPacket(
      MediaArrival(
        publisher: Int(stamp.publisher), track: Int(stamp.track), packet: Int(stamp.packet),
        frame: MediaArrival.Frame(
          number: Int(stamp.frame), isKey: stamp.isKeyFrame, isStart: stamp.isFrameStart,
          isEnd: stamp.isFrameEnd),
        viaRTX: entry.viaRTX,
        isRepeat: isRepeat, at: sentAt))
    return problem(arrival, sequence, slot: Int(stream.section.index), viaRTX: entry.viaRTX)
  }

  /// What is wrong with a packet's coming as it did.
  func problem(_ arrival: ReceivedStream.Arrival, _ sequence: UInt16, slot: Int, viaRTX: Bool) -> String? {
    switch arrival {
    case .fresh: nil
    case .again(let cameAsRTX):
      viaRTX || cameAsRTX ? nil : "sequence number \(sequence) again, opened twice"
    case .conflict(let extended): "two contents under sequence number \(extended) of slot \(slot)"
    case .farBefore: "a packet from long before the first"
    }
  }

  private func readExtensions(
    _ packet: UnsafeRawBufferPointer, _ header: RTPHeader, _ stream: ReceivedStream,
    _ entry: inout ReceivedStream.Entry, _ captured: inout NTPTime?, now: Instant
  ) -> String? {
    let map = stream.section.extensions
    var reader = HeaderExtensionReader(packet, header)
    while let element = reader.next() {
      switch map.kind(of: element.id) {
      case .mid?:
        guard MIDBytes(stream.section.mid)?.matches(packet, element) == true else {
          return "another section's MID in slot \(stream.section.index)"
        }
      case .audioLevel?: break
      case .absoluteSendTime?:
        guard element.size == AbsoluteSendTime.size else {
          return "a time of sending of \(element.size) bytes"
        }
      case .transportSequence?:
        guard element.size == 2 else { return "a transport-wide number of \(element.size) bytes" }
        feedback.arrivals.received(
          sequence: UInt16(packet[element.offset]) << 8 | UInt16(packet[element.offset + 1]), at: now)
      case .absoluteCaptureTime?:
        guard element.size == AbsoluteCaptureTime.longSize,
          packet[(element.offset + 8)..<(element.offset + 16)].allSatisfy({ $0 == 0 })
        else { return "a time of capture by another clock than the sender's" }
        captured = AbsoluteCaptureTime.read(packet, at: element.offset, isLong: true)
      case .dependencyDescriptor?:
        let bytes = Array(packet[element.offset..<element.offset + element.size])
        guard bytes.count >= 3 else { return "a dependency descriptor of \(bytes.count) bytes" }
        entry.frameNumber = UInt16(bytes[1]) << 8 | UInt16(bytes[2])
        entry.descriptor = bytes
      default: return "a header extension with id \(element.id), which was not negotiated"
      }
    }
    return reader.ending == .complete ? nil : "header extensions that end in \(reader.ending)"
  }

  /// How far a time of capture may be from the truth: its publisher's clock is known as well as the first reports'
  /// delay allows.
  private static let captureTolerance: ClosedRange<Int64> = -20_000_000...1_000_000_000

  /// - Returns: what is wrong with a packet's time of capture, which has to be on the server's time line.
  private func problem(captured: NTPTime, _ entry: ReceivedStream.Entry) -> String? {
    guard let track = journal.track(entry.trackName), !track.isHostile,
      Int(entry.packet) < track.packets.count
    else { return nil }
    journal.count(.captureTimeForwarded)
    let sentAt = track.packets[Int(entry.packet)].sentAt
    let truth = NTPTime(unixNanoseconds: DriftingClock.wallTimeAtZero + sentAt.nanoseconds)
    let error = captured.nanoseconds(since: truth)
    guard !Self.captureTolerance.contains(error) else { return nil }
    return "a time of capture that is \(error / 1_000_000) ms from the truth"
  }

  private func read(
    _ payload: UnsafeRawBufferPointer, _ stream: ReceivedStream, _ entry: inout ReceivedStream.Entry
  ) -> PayloadStamp? {
    if entry.codec == .red {
      guard let opus = stream.section.codecs.first(where: { $0.codec == .opus }) else { return nil }
      return PayloadFormat.readRED(payload, blocks: opus.payloadType)
    }
    guard let (stamp, mark) = PayloadFormat.read(payload, entry.codec) else { return nil }
    guard stream.section.kind == .video else { return stamp }
    entry.startsFrame = stamp.isFrameStart
    entry.isKeyFrame = stamp.isKeyFrame
    entry.isVideo = true
    entry.pictureID = mark.pictureID
    entry.pictureMask = mark.pictureMask
    entry.tl0PictureIndex = mark.tl0PictureIndex
    return stamp
  }
}
