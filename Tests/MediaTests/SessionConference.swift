import Media
import Model
import Wire

/// One peer's media without a transport: what its session writes is taken in plain text.
final class Person {
  var session: MediaSession
  var context = MediaContext(epoch: epoch, publisherMaxBitrate: 1_000_000)
  /// Its track's packets, as a worker keeps them.
  var history = PacketHistory(packets: 64, bytes: 64 * 1_024)
  /// What its slots got.
  private(set) var got: [(header: RTPHeader, payload: [UInt8])] = []
  /// Packets that it has asked for, by the publisher's numbers.
  private(set) var asked: [UInt16] = []
  /// The blocks of its last reports.
  private(set) var blocks: [ReportBlock] = []
  private var random = RandomSource.seeded(state: 3)
  let key: TrackKey

  init(_ number: UInt64, _ media: AgreedMedia) {
    key = TrackKey(peer: PeerKey(rawValue: number), index: 0)
    session = MediaSession(reportSSRC: UInt32(900 + number))
    _ = session.apply(media, random: &random, context: &context)
    session.transportConnected(now: start, context: &context)
  }

  /// Takes a plain packet of its own.
  func publish(_ bytes: [UInt8], at now: Instant) -> (packet: [UInt8], info: PacketInfo)? {
    var bytes = bytes
    return bytes.withUnsafeMutableBytes { packet in
      guard
        case .media(_, let offset, let size, let info) = session.receive(
          rtp: packet, arrival: now, context: &context)
      else { return nil }
      let plain = UnsafeRawBufferPointer(rebasing: packet[offset..<offset + size])
      history.store(plain, info, sequence: info.extendedSequence)
      return (Array(plain), info)
    }
  }

  /// Gets a packet of another's track in a slot.
  /// - Returns: whether it was sent.
  func forward(_ packet: [UInt8], _ info: PacketInfo, slot: Int = 0) -> Bool {
    guard let selection = session.select(info, slot: slot) else { return false }
    return send {
      session.depart(selection, packet, info, slot: slot, now: info.arrival, into: $0, context: &context)
    }
  }

  private func send(_ write: (UnsafeMutableRawBufferPointer) -> OutgoingPacket?) -> Bool {
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_600, alignment: 8)
    defer { room.deallocate() }
    guard let outgoing = write(room) else { return false }
    let bytes = UnsafeRawBufferPointer(rebasing: room[..<outgoing.size])
    guard let header = try? RTPHeader(bytes) else { return false }
    got.append((header, Array(bytes[header.headerSize...])))
    return true
  }

  /// Takes a plain compound.
  func hear(at now: Instant = start, _ write: (inout RTCPWriter) -> Void) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_200, alignment: 8)
    defer { buffer.deallocate() }
    var writer = RTCPWriter(into: buffer)
    write(&writer)
    session.receive(
      rtcp: UnsafeRawBufferPointer(rebasing: buffer[..<writer.size]), now: now, context: &context)
  }

  /// Does what its effects ask for.
  /// - Parameter sources: whose track each slot shows.
  func settle(with sources: Person..., at now: Instant) {
    let effects = context.effects
    context.effects.clear()
    for (slot, source) in sources.enumerated() where effects.keyFrameRequests[0] & 1 << UInt64(slot) != 0 {
      source.session.requestKeyFrame(track: 0)
    }
    for index in 0..<effects.nackCount {
      let wanted = effects.nack(index)
      let slot = Int(wanted.slot)
      let source = sources[slot]
      guard let request = session.retransmission(slot: slot, sequence: wanted.sequence, now: now),
        let kept = source.history.find(request.source),
        session.repetition(of: kept.info, slot: slot) == .rewritten
      else { continue }
      _ = send { session.rewriteRetransmission(request, kept.packet, kept.info, slot: slot, into: $0) }
    }
  }

  /// Lets its time come.
  /// - Returns: the kinds of what it wrote, in order.
  func poll(_ now: Instant) -> [RTCPKind] {
    session.poll(now: now, ratesChanged: true, context: &context)
    var kinds: [RTCPKind] = []
    blocks = []
    for index in 0..<context.output.count {
      var reader = RTCPReader(context.output.bytes(index))
      while let packet = try? reader.next() {
        kinds.append(packet.kind)
        if packet.kind == .nack, var numbers = try? NACKReader(packet) {
          while let number = numbers.next() { asked.append(number) }
        }
        if [.senderReport, .receiverReport].contains(packet.kind), let found = try? ReportBlocks(packet) {
          blocks += (0..<found.count).compactMap { found[$0] }
        }
      }
    }
    context.output.removeAll()
    return kinds
  }
}

extension MediaSession {
  mutating func depart(
    _ selection: Selection, _ packet: [UInt8], _ info: PacketInfo, slot: Int, now: Instant,
    into buffer: UnsafeMutableRawBufferPointer, context: inout MediaContext
  ) -> OutgoingPacket? {
    packet.withUnsafeBytes {
      depart(selection, $0, info, slot: slot, now: now, into: buffer, context: &context)
    }
  }
}
