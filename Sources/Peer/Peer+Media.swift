internal import Congestion
internal import Crypto
internal import ICE
public import Media
public import Model
internal import Wire

// MARK: - In

extension Peer {
  mutating func receiveMedia(
    _ datagram: UnsafeMutableRawBufferPointer, path: NetworkPath, arrival: Instant, now: Instant,
    _ context: inout PeerContext
  ) -> ReceivedDatagram {
    let isSelected = path == selectedPath
    guard isSelected || ice.isValidated(path) else {
      context.counters.count(.unvalidatedPath)
      return .nothing
    }
    guard opener != nil else {
      context.counters.count(.mediaBeforeHandshake)
      return .nothing
    }
    context.counters.packetsReceived &+= 1
    context.counters.bytesReceived &+= UInt64(datagram.count)
    traffic.cameIn(datagram.count)
    if RTCPPacket.matches(UnsafeRawBufferPointer(datagram)) {
      if receiveRTCP(datagram, now: now, &context), !isSelected { mediaCame(on: path, now: now, &context) }
      return .nothing
    }
    if isSelected { return receiveRTP(datagram, arrival: arrival, &context) }
    return receiveAside(datagram, path: path, arrival: arrival, now: now, &context)
  }

  /// As `receiveRTP`, on a path that is proven and not the one in use.
  @inline(never)
  private mutating func receiveAside(
    _ datagram: UnsafeMutableRawBufferPointer, path: NetworkPath, arrival: Instant, now: Instant,
    _ context: inout PeerContext
  ) -> ReceivedDatagram {
    let received = receiveRTP(datagram, arrival: arrival, &context)
    if case .media = received { mediaCame(on: path, now: now, &context) }
    return received
  }

  private mutating func mediaCame(on path: NetworkPath, now: Instant, _ context: inout PeerContext) {
    guard ice.mediaCame(on: path, now: now, random: &context.random) else { return }
    pathSelected(path, now: now, &context)
    mendPictures(&context)
  }

  @inline(__always)
  private mutating func receiveRTP(
    _ datagram: UnsafeMutableRawBufferPointer, arrival: Instant, _ context: inout PeerContext
  ) -> ReceivedDatagram {
    let size: Int
    do throws(SRTPError) {
      // Not nil: the caller looked.
      size = try opener!.openRTP(datagram)
    } catch {
      context.counters.count(PeerDrop(error))
      return .nothing
    }
    let packet = UnsafeMutableRawBufferPointer(rebasing: datagram[..<size])
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
    let stream: StreamMap.Stream
    if let known = streams.find(header.ssrc) {
      stream = known
    } else {
      switch claim(header, UnsafeRawBufferPointer(packet), found, arrival: arrival) {
      case .granted(let claimed): stream = claimed
      case .refused(let reason):
        context.counters.count(reason)
        return .nothing
      }
    }
    if stream.isRTX { context.counters.retransmissionsReceived &+= 1 }
    let section = receiving.pointer(Int(stream.receiver))
    let wasStarted = section.pointee.receiver.isStarted
    let restarts = section.pointee.receiver.restarts
    let format = section.pointee.receiver.formatCode
    let outcome = section.pointee.receiver.receive(
      packet, header, isRTX: stream.isRTX, audioLevel: found.audioLevel, carried: found.carried,
      arrival: arrival)
    scheduleFeedback(section.pointee.receiver.deadline)
    switch outcome {
    case .dropped(let reason):
      context.counters.count(PeerDrop(reason))
      return .nothing
    case .media(let info, let offset, let size):
      if !wasStarted || section.pointee.receiver.formatCode != format {
        context.effects.noteStarted(Int(stream.receiver))
      }
      if !wasStarted || section.pointee.receiver.restarts != restarts {
        context.effects.noteClock(Int(stream.receiver))
      }
      guard !section.pointee.receiver.isMuted else {
        context.counters.count(.trackMuted)
        return .nothing
      }
      return .media(
        tag: Int(section.pointee.receiver.tag),
        UnsafeRawBufferPointer(rebasing: packet[offset..<offset &+ size]),
        info)
    }
  }

  private struct ReadExtensions {
    var audioLevel: AudioLevel?
    var section: Int?
    /// Which encoding the stream is, or repairs.
    var rid: HeaderExtensionReader.Element?
    var repairedRid: HeaderExtensionReader.Element?
    var carried = CarriedExtensions()
    /// An element is longer than the room that is left.
    var overruns = false
  }

  /// Notes the transport sequence number; finds the audio level and the section that the packet names.
  @inline(__always)
  private mutating func readExtensions(
    _ packet: UnsafeRawBufferPointer, _ header: RTPHeader, arrival: Instant
  ) -> ReadExtensions {
    var found = ReadExtensions()
    var reader = HeaderExtensionReader(packet, header)
    while let element = reader.next() {
      if element.id == incoming[.transportSequence] {
        if let sequence = TransportSequence.read(packet, element) {
          arrivals.received(sequence: sequence, at: arrival)
          scheduleFeedback(arrivals.deadline)
        }
      } else if element.id == incoming[.audioLevel] {
        found.audioLevel = AudioLevel(packet, element)
      } else if element.id == incoming[.mid] {
        for index in 0..<receiving.count
        where receiving.pointer(index).pointee.midBytes?.matches(packet, element) == true {
          found.section = index
        }
      } else if element.id == incoming[.rid] {
        found.rid = element
      } else if element.id == incoming[.repairedRid] {
        found.repairedRid = element
      } else if carriesExtensions {
        readCarried(element, &found.carried)
      }
    }
    found.overruns = reader.ending == .overrun
    return found
  }

  /// Those that go on as they are. An offset that doesn't fit is further back than any packet is long.
  @inline(never)
  private func readCarried(
    _ element: HeaderExtensionReader.Element, _ carried: inout CarriedExtensions
  ) {
    guard element.size > 0 else { return }
    let offset = UInt16(truncatingIfNeeded: element.offset)
    let size = UInt8(truncatingIfNeeded: element.size)
    if element.id == incoming[.dependencyDescriptor] {
      carried.descriptorOffset = offset
      carried.descriptorSize = size
    } else if element.id == incoming[.colorSpace] {
      carried.colorSpaceOffset = offset
      carried.colorSpaceSize = size
    } else if element.id == incoming[.playoutDelay], size == CarriedExtensions.playoutDelaySize {
      carried.playoutDelayOffset = offset
    }
  }

  private enum Claim {
    case granted(StreamMap.Stream)
    case refused(PeerDrop)
  }

  /// The least time between two changes of a section's SSRC: each costs new keys, and its subscribers a restart. Late
  /// packets of the one before don't take it back, either.
  private static let rebindInterval = Duration.milliseconds(100)

  /// A stream that the description didn't announce: the section that it names takes it, if it knows the payload
  /// type. The payload type alone never decides. Of a simulcast only the agreed encoding is taken, which names
  /// itself (RFC 8852 §3).
  private mutating func claim(
    _ header: RTPHeader, _ packet: UnsafeRawBufferPointer, _ found: ReadExtensions, arrival: Instant
  ) -> Claim {
    guard !isOurs(header.ssrc) else { return .refused(.streamOfOurs) }
    guard let index = found.section,
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
      forget(section.pointee.receiver.rtxSSRC)
      section.pointee.receiver.rtxSSRC = header.ssrc
    } else {
      forget(old)
      // What repaired the old stream would be taken for the new one's.
      if old != nil {
        forget(section.pointee.receiver.rtxSSRC)
        section.pointee.receiver.rtxSSRC = nil
      }
      section.pointee.receiver.rebind(ssrc: header.ssrc)
    }
    bind(index)
    guard let stream = streams.find(header.ssrc) else { return .refused(.streamTableFull) }
    return .granted(stream)
  }

  private mutating func forget(_ ssrc: UInt32?) {
    guard let ssrc else { return }
    streams.remove(ssrc)
    opener?.remove(ssrc: ssrc)
  }
}

// MARK: - Out

extension Peer {
  /// Sends a track's packet in a slot, as its subscriber gets it.
  /// - Returns: true when it was left out for want of a key frame.
  public mutating func forward(
    _ packet: UnsafeRawBufferPointer, _ info: PacketInfo, slot: Int, context: inout PeerContext
  ) -> Bool {
    guard let path = selectedPath, sealer != nil else {
      context.counters.count(.sendWithoutPath)
      return false
    }
    let sender = senders.pointer(slot)
    if isResettling, let index = sender.pointee.forwarder.index(of: info),
      !sender.pointee.mediaGuard.isFresh(index)
    {
      context.counters.count(.repeatedAfterMove)
      return false
    }
    let buffer = context.outbox.reserve()
    guard
      let outgoing = sender.pointee.forwarder.rewrite(
        packet, info, into: Self.plain(buffer), epoch: context.epoch)
    else {
      if sender.pointee.forwarder.takeUnwritable() { context.counters.count(.packetTooLarge) }
      return sender.pointee.forwarder.needsKeyFrame
    }
    #if PLANTED_DEFECTS
      let isPlanted = PlantedDefect.isOn(.indexSealedTwice)
    #else
      let isPlanted = false
    #endif
    guard sender.pointee.mediaGuard.admit(outgoing.index) || isPlanted else {
      context.counters.count(.sealRefused)
      return false
    }
    guard let size = seal(outgoing, buffer, &context) else { return false }
    if sender.pointee.sealed != nil {
      sender.pointee.sealed!.store(
        UnsafeRawBufferPointer(rebasing: buffer[..<size]), info, sequence: Int64(bitPattern: outgoing.index))
    }
    context.outbox.commit(size: size, path: path)
    return false
  }

  /// The part of a datagram's room that leaves enough for what sealing adds.
  @inline(__always)
  private static func plain(_ buffer: UnsafeMutableRawBufferPointer) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: Outbox.plainSize)
  }

  /// Which packet of the source a NACK means; to be found in the source's history and given to `retransmit`.
  public mutating func retransmission(
    slot: Int, sequence: UInt16, now: Instant
  ) -> RetransmissionRequest? {
    let sender = senders.pointer(slot)
    let roundTrip = sender.pointee.forwarder.reports.roundTrip ?? self.roundTrip
    return sender.pointee.forwarder.retransmission(of: sequence, now: now, roundTrip: roundTrip)
  }

  /// Sends a packet once more: in the retransmission stream, or where the subscriber has none, its sealed bytes.
  public mutating func retransmit(
    _ request: RetransmissionRequest, _ packet: UnsafeRawBufferPointer, _ info: PacketInfo, slot: Int,
    context: inout PeerContext
  ) {
    guard let path = selectedPath, sealer != nil else { return context.counters.count(.sendWithoutPath) }
    let sender = senders.pointer(slot)
    guard sender.pointee.forwarder.answersNACK(info) else { return context.counters.count(.nackRefused) }
    guard sender.pointee.forwarder.usesRTX(info) else {
      let found = sender.pointee.sealed?.find(request.outgoing)?.packet
      sender.pointee.forwarder.noteRepeated(found != nil)
      if let found {
        context.outbox.append(found, path: path)
        context.counters.retransmissionsSent &+= 1
      } else {
        context.counters.count(.nackRefused)
      }
      return
    }
    let buffer = context.outbox.reserve()
    guard
      let outgoing = sender.pointee.forwarder.rewriteRetransmission(
        request, packet, info, into: Self.plain(buffer))
    else { return context.counters.count(.nackRefused) }
    guard sender.pointee.rtxGuard.admit(outgoing.index) else {
      return context.counters.count(.sealRefused)
    }
    guard let size = seal(outgoing, buffer, &context) else { return }
    context.outbox.commit(size: size, path: path)
    context.counters.retransmissionsSent &+= 1
  }

  @inline(__always)
  private mutating func seal(
    _ outgoing: OutgoingPacket, _ buffer: UnsafeMutableRawBufferPointer, _ context: inout PeerContext
  ) -> Int? {
    do throws(SRTPError) {
      let size = try sealer!.sealRTP(
        buffer.baseAddress!, headerSize: outgoing.headerSize, size: outgoing.size, capacity: buffer.count,
        ssrc: outgoing.ssrc, index: outgoing.index)
      context.counters.packetsSent &+= 1
      context.counters.bytesSent &+= UInt64(size)
      traffic.wentOut(size)
      return size
    } catch {
      context.counters.count(.sealFailed)
      return nil
    }
  }
}

// MARK: - Subscriptions

extension Peer {
  /// Feeds a slot from a track, or from none.
  /// - Returns: true when the track should be asked for a key frame.
  public mutating func setSource(slot: Int, _ track: TrackKey?, clock: ClockMapping?) -> Bool {
    guard kind(ofSlot: slot) != nil else { return false }
    return senders.pointer(slot).pointee.forwarder.setSource(track, clock: clock)
  }

  public func source(ofSlot slot: Int) -> TrackKey? { senders.pointer(slot).pointee.forwarder.source }

  /// Whether the packet is of the life of the slot's source that flows in it.
  public func continues(_ info: PacketInfo, slot: Int) -> Bool {
    senders.pointer(slot).pointee.forwarder.continues(info)
  }

  /// True while a key frame would be the first that the slot's subscriber gets, and would reach it.
  public func awaitsFirstPicture(slot: Int) -> Bool {
    takesMedia && needsKeyFrame(slot: slot) && !senders.pointer(slot).pointee.forwarder.hasBegun
  }

  /// Whether a wish for a key frame would be passed on at once.
  public func mayAskForKeyFrame(receiver: Int, now: Instant) -> Bool {
    receiving.pointer(receiver).pointee.receiver.keyFrames.mayAsk(now: now)
  }

  /// True while the slot's subscriber can't show anything without a key frame.
  public func needsKeyFrame(slot: Int) -> Bool { senders.pointer(slot).pointee.forwarder.needsKeyFrame }

  public mutating func setClock(slot: Int, _ mapping: ClockMapping) {
    senders.pointer(slot).pointee.forwarder.setClock(mapping)
  }

  public func counters(ofSlot slot: Int) -> ForwarderCounters {
    senders.pointer(slot).pointee.forwarder.counters
  }

  /// Where a track's timestamps stand on the server's time line; nil before its first packet.
  public func clock(receiver: Int, epoch: Epoch) -> ClockMapping? {
    let section = receiving.pointer(receiver)
    return section.pointee.receiver.mapping(clocks[section.pointee.clockIndex], epoch: epoch)
  }

  /// Gives a track the owner's number, which comes with each of its packets.
  public mutating func setTag(receiver: Int, _ tag: Int) {
    receiving.pointer(receiver).pointee.receiver.tag = Int32(truncatingIfNeeded: tag)
  }

  /// Whether the slot's subscriber may ask for lost packets again.
  public func answersNACK(slot: Int) -> Bool {
    senders.pointer(slot).pointee.section.codecs.contains { $0.nack }
  }

  /// The publisher holds the track, or lets it flow again.
  public mutating func setMuted(receiver: Int, _ muted: Bool) {
    guard kind(ofReceiver: receiver) != nil else { return }
    receiving.pointer(receiver).pointee.receiver.setMuted(muted)
    scheduleFeedback(receiving.pointer(receiver).pointee.receiver.deadline)
  }

  /// How often the track's source has started over; nil before its first packet.
  public func life(ofReceiver index: Int) -> UInt8? {
    guard kind(ofReceiver: index) != nil, receiving.pointer(index).pointee.receiver.isStarted else {
      return nil
    }
    return receiving.pointer(index).pointee.receiver.restarts
  }

  /// What the track's last packet was encoded in, of RED what its blocks are; nil before the first.
  public func format(ofReceiver index: Int) -> CodecFormat? {
    guard kind(ofReceiver: index) != nil else { return nil }
    return receiving.pointer(index).pointee.receiver.format
  }

  /// A subscriber of the track needs a key frame.
  public mutating func wishKeyFrame(receiver: Int) {
    guard kind(ofReceiver: receiver) != nil else { return }
    receiving.pointer(receiver).pointee.receiver.wishKeyFrame()
    scheduleFeedback(receiving.pointer(receiver).pointee.receiver.deadline)
  }
}

extension PeerDrop {
  init(_ error: SRTPError) {
    switch error {
    case .replayed: self = .srtpReplayed
    case .tooOld: self = .srtpTooOld
    case .authentication: self = .srtpAuthentication
    case .tooShort, .malformed, .notEncrypted: self = .srtpMalformed
    case .capacity, .indexExhausted, .library: self = .srtpOther
    }
  }

  init(_ reason: MediaDrop) {
    switch reason {
    case .unknownPayloadType: self = .unknownPayloadType
    case .malformedPayload: self = .payloadMalformed
    case .duplicate: self = .duplicate
    case .tooOld: self = .tooOld
    case .sequenceJump: self = .sequenceJump
    case .retransmissionWithoutStream: self = .retransmissionWithoutStream
    case .paddingOnly: self = .paddingOnly
    case .otherClock: self = .otherClock
    }
  }
}
