import Crypto
import ICE
import Media
import Model
import Peer
import Transport
import Wire

/// Compounds of RTCP, each counted from the sealed datagram on, with all that the peer sends because of it.
///
/// The peer publishes sound and a picture, has 64 slots that play them, and 960 that have come and gone: as many as
/// there can be. The slots' SSRCs are `ReportCosts.slots` and above, with retransmissions on every odd number; a NACK's
/// numbers count back from the last that its slot has sent.
///
/// For `PacketCosts` it has as many sections to publish in as there can be, and nothing plays in its slots.
final class ReportCosts {
  /// Each that the reader knows, and several in one compound.
  static let kinds = (0...UInt8.max).compactMap { RTCPKind(rawValue: $0) }.map(name(of:)) + ["compound"]
  static let slots: UInt32 = 0x0101_0101
  private static let live = 64
  private static let past = 960
  /// Further sections to publish in that are there, and those of before with them.
  private static let published = 126
  private static let rounds = 7
  /// Of IP and UDP.
  private static let headers = 28
  private static let path = NetworkPath(
    remote: SocketAddress(ipv4: 192, 0, 2, 0, port: 1_000),
    local: SocketAddress(ipv4: 10, 0, 0, 0, port: 3_478))

  private var peer: Peer
  private var context: PeerContext
  private let sent = Sent()
  private let farEnd = PeerFarEnd(.aeadAES128GCM)
  private var now = Instant(nanoseconds: 1_000_000_000)
  private var sequence: UInt16 = 1_000
  /// Further sections are there, and nothing plays.
  private let isWide: Bool
  private var streams: UInt32 = 0
  private let histories = [KeptPackets(), KeptPackets()]

  private final class KeptPackets {
    var packets = PacketHistory(packets: 1_024, bytes: 1 << 20)
  }

  /// What left.
  private final class Sent {
    var bytes = 0
    /// By SSRC.
    var sequences: [UInt32: UInt16] = [:]
    var checks: [[UInt8]] = []

    func take(_ outbox: inout Outbox) {
      for index in 0..<outbox.count {
        let datagram = outbox.bytes(outbox[index])
        bytes += datagram.count
        if datagram.count >= 12, datagram[0] & 0xC0 == 0x80, !(192...223).contains(datagram[1]) {
          let ssrc = datagram[8..<12].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
          sequences[ssrc] = UInt16(datagram[2]) << 8 | UInt16(datagram[3])
        } else if datagram[0] < 4 {
          checks.append(Array(datagram))
        }
      }
      outbox.removeAll()
    }
  }

  static func kind(of input: [UInt8]) -> String? {
    guard input.count >= 8, input.count <= 1_400 else { return nil }
    return input.withUnsafeBytes { bytes -> String? in
      guard RTCPPacket.matches(bytes) else { return nil }
      var reader = RTCPReader(bytes)
      var found: String?
      while let packet = try? reader.next() {
        let name = name(of: packet.kind)
        if let known = found, known != name { return "compound" }
        found = name
      }
      return found
    }
  }

  private static func name(of kind: RTCPKind) -> String {
    switch kind {
    case .senderReport: "SR"
    case .receiverReport: "RR"
    case .sourceDescription: "SDES"
    case .goodbye: "BYE"
    case .nack: "NACK"
    case .pictureLoss: "PLI"
    case .fullIntraRequest: "FIR"
    case .applicationFeedback: "REMB"
    case .transportFeedback: "transport-wide feedback"
    case .congestionFeedback: "congestion control feedback"
    case .extendedReport: "XR"
    case .other: "unknown"
    }
  }

  // MARK: - The peer

  init?(isWide: Bool = false) {
    self.isWide = isWide
    guard let certificate = try? DTLSCertificate(notBefore: 0, notAfter: 4_000_000_000),
      let dtls = try? DTLSContext(certificate: certificate)
    else { return nil }
    var made = PeerContext(
      epoch: Epoch(ntpAtZero: NTPTime(unixNanoseconds: 1_800_000_000_000_000_000)), dtls: dtls,
      random: .seeded(state: 1), outbox: Outbox(datagrams: 256) { [sent] in sent.take(&$0) })
    peer = Peer(
      PeerSetup(
        key: PeerKey(home: 1, serial: 1), local: ours,
        remote: RemoteTransport(credentials: theirs, fingerprints: [], role: .server),
        media: Self.agreed(0, isWide), verification: .always, reportSSRC: 9, createdAt: now), context: &made)
    context = made
    let association = DTLSAssociation(
      role: .server, localKeys: farEnd.near, remoteKeys: farEnd.far, lastFlight: [PeerFarEnd.changeCipherSpec]
    )
    peer.connect(association, now: now, context: &context)
    settle()
    provePath()
    for round in 1...Self.past / Self.live { peer.apply(Self.agreed(round, isWide), context: &context) }
    for receiver in 0..<2 { peer.setTag(receiver: receiver, receiver) }
    for slot in Self.past..<Self.past + Self.live where !isWide {
      let key = TrackKey(peer: PeerKey(home: 1, serial: 1), index: UInt16(slot & 1))
      _ = peer.setSource(slot: slot, key, clock: peer.clock(receiver: slot & 1, epoch: context.media.epoch))
    }
    for _ in 0..<200 { publish() }
  }

  /// - Parameter round: each has 64 slots that none before had.
  private static func agreed(_ round: Int, _ isWide: Bool) -> AgreedMedia {
    let opus = NegotiatedCodec(codec: .opus, payloadType: 111, nack: true)
    let vp8 = NegotiatedCodec(
      format: .vp8, payloadType: 96, rtxPayloadType: 97, nack: true, pli: true)
    let further = isWide ? min(round, rounds) * published..<(min(round, rounds) + 1) * published : 0..<0
    return AgreedMedia(
      receive: [received(0, .audio, opus), received(1, .video, vp8)]
        + further.filter { $0 + 2 < MediaSession.sectionLimit }
        .map { received(UInt16($0 + 2), .audio, opus, isNamed: true) },
      send: (0..<live).map { slot in
        slot & 1 == 0 ? sent(round, slot, .audio, opus) : sent(round, slot, .video, vp8)
      }, allowsReducedSizeRTCP: true)
  }

  /// - Parameter isNamed: its streams aren't announced, but say in which section they are.
  private static func received(
    _ index: UInt16, _ kind: MediaKind, _ codec: NegotiatedCodec, isNamed: Bool = false
  ) -> ReceiveSection {
    var extensions = HeaderExtensionMap()
    if isNamed {
      extensions[.mid] = 1
      extensions[.transportSequence] = 2
      extensions[.audioLevel] = 3
    }
    return ReceiveSection(
      index: index, mid: "\(index)", kind: kind, codecs: [codec], extensions: extensions,
      ssrc: isNamed ? nil : UInt32(index) + 1, cname: "c")
  }

  private static func sent(
    _ round: Int, _ slot: Int, _ kind: MediaKind, _ codec: NegotiatedCodec
  ) -> SendSection {
    let index = round * live + slot
    // Those that are there now are numbered from the first.
    let base = round == past / live ? slots : slots &+ 0x1000 &* UInt32(round + 1)
    let ssrc = base &+ 2 &* UInt32(slot)
    return SendSection(
      index: UInt16(index), mid: "s\(index)", kind: kind, codecs: [codec], extensions: HeaderExtensionMap(),
      ssrc: ssrc, rtxSSRC: kind == .audio ? nil : ssrc &+ 1, cname: "u", streamID: "s")
  }

  /// The participant's own checks, until the path is in use.
  private func provePath() {
    var configuration = ControllingAgent.Configuration()
    configuration.isAggressive = true
    var random = RandomSource.seeded(state: 2)
    var agent = ControllingAgent(
      local: theirs, remote: ours, configuration: configuration, now: now, random: &random)
    agent.addLocal(Self.path.remote)
    agent.addRemote(Self.path.local, priority: 1 << 30)
    var output = ICEOutput()
    for _ in 0..<100 where peer.transport.selectedPath == nil {
      now = now + .milliseconds(10)
      _ = agent.poll(now: now, random: &random, output: &output)
      for _ in 0..<4 {
        let said = (0..<output.count).map { Array(output.bytes($0)) }
        output.removeAll()
        for datagram in said { receive(datagram) }
        for datagram in sent.checks {
          _ = datagram.withUnsafeBytes {
            agent.receive(
              $0, path: NetworkPath(remote: Self.path.local, local: Self.path.remote), now: now,
              random: &random, output: &output)
          }
        }
        sent.checks = []
      }
    }
    check(peer.transport.selectedPath == Self.path, "a participant that answers is connected")
  }

  /// A packet of each of its tracks, which plays in every slot.
  private func publish() {
    sequence &+= 1
    now = now + .milliseconds(1)
    for (ssrc, type, payload) in [
      (UInt8(1), UInt8(111), [UInt8](repeating: 5, count: 40)),
      (
        2, 0x80 | 96, [0x10, 0x50, 1, 0, 0x9D, 1, 0x2A, 0x40, 1, 0xF0, 0] + [UInt8](repeating: 5, count: 900)
      ),
    ] {
      let timestamp = UInt32(sequence) &* 3_000
      let packet =
        [0x80, type, UInt8(sequence >> 8), UInt8(truncatingIfNeeded: sequence)]
        + withUnsafeBytes(of: timestamp.bigEndian) { Array($0) } + [0, 0, 0, ssrc] + payload
      if let sealed = farEnd.sealRTP(packet) { receive(sealed) }
    }
  }

  // MARK: - What is counted

  func run(_ input: [UInt8], _ meter: CostMeter) -> CostReading? {
    // What waits for its time, such as a slot's share of retransmissions, is there again.
    now = now + .seconds(1)
    publish()
    return farEnd.sealRTCP(numbered(input)).map { count($0, meter) }
  }

  /// - Parameter input: a packet of RTP, which gets the next number of its stream, or that of a stream that is new.
  func run(packet input: [UInt8], _ meter: CostMeter) -> CostReading? {
    now = now + .seconds(1)
    publish()
    sequence &+= 1
    var packet = input
    (packet[2], packet[3]) = (UInt8(sequence >> 8), UInt8(truncatingIfNeeded: sequence))
    if !PacketCosts.isKnown(input) {
      streams &+= 1
      for place in 0..<4 {
        packet[8 + place] = UInt8(truncatingIfNeeded: (1 << 31 | streams) >> UInt32(24 - 8 * place))
      }
    }
    return farEnd.sealRTP(packet).map { count($0, meter) }
  }

  private func count(_ sealed: [UInt8], _ meter: CostMeter) -> CostReading {
    let before = sent.bytes
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: sealed.count, alignment: 8)
    defer { memory.deallocate() }
    memory.copyBytes(from: sealed)
    meter.begin()
    receive(memory)
    meter.end()
    return CostReading(charged: sealed.count + Self.headers, answered: sent.bytes - before)
  }

  /// With numbers that the slots have sent.
  private func numbered(_ input: [UInt8]) -> [UInt8] {
    var bytes = input
    var offset = 0
    while offset + 12 <= bytes.count {
      let size = 4 * (1 + (Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])))
      let end = min(offset + size, bytes.count)
      if bytes[offset + 1] == 205, bytes[offset] & 31 == 1 {
        let ssrc = bytes[offset + 8..<offset + 12].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let last = sent.sequences[ssrc] ?? 0
        for place in stride(from: offset + 12, to: end - 3, by: 4) {
          let number = last &- (UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1])) & 1_023
          (bytes[place], bytes[place + 1]) = (UInt8(number >> 8), UInt8(truncatingIfNeeded: number))
        }
      }
      offset += max(size, 4)
    }
    return bytes
  }

  private func receive(_ datagram: [UInt8]) {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: datagram.count, alignment: 8)
    defer { memory.deallocate() }
    memory.copyBytes(from: datagram)
    receive(memory)
  }

  private func receive(_ datagram: UnsafeMutableRawBufferPointer) {
    let outcome = peer.receive(datagram, path: Self.path, arrival: now, now: now, context: &context)
    if case .media(let tag, let packet, let info) = outcome, !isWide {
      _ = context.takeEffects()
      histories[tag].packets.store(packet, info, sequence: info.extendedSequence)
      for slot in Self.past..<Self.past + Self.live where slot & 1 == tag {
        let reference = PacketReference(track: tag, sequence: info.extendedSequence)
        peer.select(info, reference, slot: slot, now: now, context: &context)
      }
      depart()
    }
    settle()
  }

  private func depart() {
    while let next = peer.nextDeparture(now: now, context: &context) {
      if let kept = histories[Int(next.track)].packets.find(next.sequence) {
        peer.depart(kept.packet, kept.info, now: now, context: &context)
      } else {
        peer.dropDeparture(now: now, context: &context)
      }
    }
  }

  /// What a worker does behind each datagram.
  private func settle() {
    let effects = context.takeEffects().media
    for index in 0..<effects.nackCount {
      let wanted = effects.nack(index)
      let slot = Int(wanted.slot)
      guard let track = peer.source(ofSlot: slot),
        let request = peer.retransmission(of: wanted.sequence, slot: slot, now: now, context: &context)
      else { continue }
      peer.retransmit(
        request, slot: slot, packet: PacketReference(track: Int(track.index), sequence: request.source))
      depart()
    }
    for word in 0..<16 where effects.keyFrameRequests[word] != 0 {
      for bit in 0..<64 where effects.keyFrameRequests[word] >> UInt64(bit) & 1 != 0 {
        if let track = peer.source(ofSlot: word << 6 | bit) {
          peer.requestKeyFrame(receiver: Int(track.index))
        }
      }
    }
    for track in 0..<2 where effects.clocks[0] >> UInt64(track) & 1 != 0 {
      guard let clock = peer.clock(receiver: track, epoch: context.media.epoch) else { continue }
      for slot in Self.past..<Self.past + Self.live where slot & 1 == track {
        peer.setClock(slot: slot, clock)
      }
    }
    sent.take(&context.transport.outbox)
  }
}
