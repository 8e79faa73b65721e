internal import Congestion
public import Model
internal import Wire

/// What of a plain packet is to be forwarded.
public enum ReceivedMedia {
  case nothing
  /// RTP of the track with the owner's `tag`: `size` bytes from `offset` of the packet that was given.
  case media(tag: Int, offset: Int, size: Int, PacketInfo)
}

extension MediaSession {
  /// Takes a plain RTP packet.
  /// - Parameters:
  ///   - packet: changed in place: a retransmission is unwrapped.
  ///   - arrival: when the kernel had it.
  public mutating func receive(
    rtp packet: UnsafeMutableRawBufferPointer, arrival: Instant, context: inout MediaContext
  ) -> ReceivedMedia {
    let header: RTPHeader
    do throws(RTPError) {
      header = try RTPHeader(UnsafeRawBufferPointer(packet))
    } catch {
      context.counters.count(.rtpMalformed)
      return .nothing
    }
    let found = readExtensions(UnsafeRawBufferPointer(packet), header, arrival: arrival)
    guard !found.overruns else {
      context.counters.count(.extensionMalformed)
      return .nothing
    }
    if let known = streams.find(header.ssrc) {
      return receive(packet, header, found, known, arrival: arrival, &context)
    }
    switch claim(header, UnsafeRawBufferPointer(packet), found, arrival: arrival, &context.streamChanges) {
    case .granted(let claimed): return receive(packet, header, found, claimed, arrival: arrival, &context)
    case .refused(let reason):
      context.counters.count(reason)
      return .nothing
    }
  }

  /// A packet of a stream that is a track's.
  @inline(__always)
  private mutating func receive(
    _ packet: UnsafeMutableRawBufferPointer, _ header: RTPHeader, _ found: FoundExtensions,
    _ stream: StreamMap.Stream, arrival: Instant, _ context: inout MediaContext
  ) -> ReceivedMedia {
    if streamArrivals.isWanted { noteStreamArrival(header, at: arrival) }
    if stream.isRTX { context.counters.retransmissionsReceived &+= 1 }
    let section = receiving.pointer(Int(stream.section))
    let encoding = section.pointee.encoding(Int(stream.encoding))
    let wasStarted = encoding.pointee.receiver.isStarted
    let restarts = encoding.pointee.receiver.restarts
    let format = encoding.pointee.receiver.formatCode
    var carried = found.carried
    if carried.captureTimeOffset != 0 {
      carried.captureTimeOffset = mapCaptureTime(
        found, in: packet, clock: section.pointee.clock, arrival: arrival, epoch: context.epoch)
    }
    let outcome = encoding.pointee.receiver.receive(
      packet, header, isRTX: stream.isRTX, audioLevel: found.audioLevel, carried: carried,
      arrival: arrival)
    scheduleFeedback(encoding.pointee.receiver.deadline)
    switch outcome {
    case .dropped(let reason):
      context.counters.count(SessionDrop(reason))
      return .nothing
    case .media(var info, let offset, let size):
      if let element = found.allocation, !info.flags.contains(.recovered) {
        section.pointee.noteAllocation(UnsafeRawBufferPointer(packet), element, arrival: arrival)
      }
      info.encoding = stream.encoding
      if section.pointee.traits.contains(.encrypted) { info.flags.insert(.encrypted) }
      if !wasStarted || encoding.pointee.receiver.formatCode != format {
        section.pointee.latest = stream.encoding
        context.effects.noteStarted(Int(stream.section))
      }
      if !wasStarted || encoding.pointee.receiver.restarts != restarts {
        context.effects.noteClock(Int(stream.section))
      }
      guard !encoding.pointee.receiver.isMuted else {
        context.counters.count(.trackMuted)
        return .nothing
      }
      if encoding.pointee.receiver.kind == .audio,
        !encoding.pointee.takeSound(bytes: packet.count, info.format, now: arrival)
      {
        context.counters.count(.soundOverRate)
        return .nothing
      }
      return .media(tag: Int(encoding.pointee.receiver.tag), offset: offset, size: size, info)
    }
  }

  struct FoundExtensions {
    var audioLevel: AudioLevel?
    /// The section that the stream is in.
    var mid: HeaderExtensionReader.Element?
    /// Which encoding the stream is, or repairs.
    var rid: HeaderExtensionReader.Element?
    var repairedRid: HeaderExtensionReader.Element?
    var carried = CarriedExtensions()
    /// Which layers the publisher sends.
    var allocation: HeaderExtensionReader.Element?
    /// The time of capture comes with the estimate of its clock's offset.
    var hasClockOffset = false
    /// An element is longer than the room that is left.
    var overruns = false
  }

  /// Notes the transport sequence number; finds the audio level and what a new stream is claimed by.
  ///
  /// A sender may fill a packet with elements. Of those that cost more than to be remembered the first counts.
  @inline(__always)
  private mutating func readExtensions(
    _ packet: UnsafeRawBufferPointer, _ header: RTPHeader, arrival: Instant
  ) -> FoundExtensions {
    var found = FoundExtensions()
    var isNumbered = false
    var isStamped = false
    var reader = HeaderExtensionReader(packet, header)
    while let element = reader.next() {
      if element.id == incoming[.transportSequence] {
        if !isNumbered, let sequence = TransportSequence.read(packet, element) {
          isNumbered = true
          arrivals.received(sequence: sequence, at: arrival)
          scheduleFeedback(arrivals.deadline)
        }
      } else if element.id == incoming[.absoluteSendTime] {
        if !isStamped, let units = AbsoluteSendTime.read(packet, element) {
          isStamped = true
          noteSendTime(units, size: packet.count, at: arrival)
        }
      } else if element.id == incoming[.audioLevel] {
        found.audioLevel = AudioLevel(packet, element)
      } else if element.id == incoming[.mid] {
        #if PLANTED_DEFECTS
          if PlantedDefect.isOn(.lastName) { found.mid = element }
        #endif
        if found.mid == nil { found.mid = element }
      } else if element.id == incoming[.rid] {
        found.rid = element
      } else if element.id == incoming[.repairedRid] {
        found.repairedRid = element
      } else if element.id == incoming[.videoLayersAllocation] {
        found.allocation = element
      } else if carriesExtensions {
        readCarried(element, &found)
      }
    }
    found.overruns = reader.ending == .overrun
    return found
  }

  /// Those that go on. An offset that doesn't fit is further back than any packet is long.
  @inline(never)
  private func readCarried(_ element: HeaderExtensionReader.Element, _ found: inout FoundExtensions) {
    guard element.size > 0 else { return }
    let offset = UInt16(truncatingIfNeeded: element.offset)
    let size = UInt8(truncatingIfNeeded: element.size)
    if element.id == incoming[.dependencyDescriptor] {
      found.carried.descriptorOffset = offset
      found.carried.descriptorSize = size
    } else if element.id == incoming[.colorSpace] {
      found.carried.colorSpaceOffset = offset
      found.carried.colorSpaceSize = size
    } else if element.id == incoming[.playoutDelay], size == CarriedExtensions.playoutDelaySize {
      found.carried.playoutDelayOffset = offset
    } else if element.id == incoming[.absoluteCaptureTime],
      element.size == AbsoluteCaptureTime.shortSize || element.size == AbsoluteCaptureTime.longSize
    {
      found.carried.captureTimeOffset = offset
      found.hasClockOffset = element.size == AbsoluteCaptureTime.longSize
    }
  }

  /// A time of capture further than this from a packet's arrival is of a clock that is none of its sender's.
  private static let captureTolerance: Int64 = 60_000_000_000

  /// Puts the time of capture onto the server's time line, in place: its subscribers compare it with the server's
  /// sender reports, and know nothing of its publisher's clock.
  /// - Returns: its offset; 0, so that it goes no further, while the publisher's clock isn't known.
  @inline(never)
  private func mapCaptureTime(
    _ found: FoundExtensions, in packet: UnsafeMutableRawBufferPointer, clock: Int, arrival: Instant,
    epoch: Epoch
  ) -> UInt16 {
    let offset = found.carried.captureTimeOffset
    guard clocks[clock].isKnown,
      let captured = AbsoluteCaptureTime.read(
        UnsafeRawBufferPointer(packet), at: Int(offset), isLong: found.hasClockOffset)
    else { return 0 }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.captureTimeForeign) { return offset }
    #endif
    let moment = clocks[clock].serverTime(captured)
    guard epoch.ntp(at: arrival).nanoseconds(since: moment).magnitude <= UInt64(Self.captureTolerance),
      AbsoluteCaptureTime.write(moment, packet, at: Int(offset))
    else { return 0 }
    return offset
  }
}
