import Crypto
import ICE
import Media
import Model
import Peer
import Transport
import Wire

/// A whole peer: any datagrams on any paths at any times, as a stranger sends them and as the participant does, who has
/// the password and the keys; its own tracks come back to it in its own slots.
///
/// The first byte chooses how far it is connected and what was agreed on, steps follow. Whatever comes, what is due is
/// done, an unproven address gets no more than three times what it sent, all that leaves is what the far end can
/// read, no index is sealed twice, and the peer is the same again from its state.
func fuzzPeer(_ input: UnsafeRawBufferPointer) {
  guard let mode = input.first, let attack = PeerAttack(mode) else { return }
  var script = AttackScript(UnsafeRawBufferPointer(rebasing: input[1...]))
  while attack.peer.closed == nil, let step = script.next() { attack.take(step) }
  if mode & 64 != 0 { attack.rebuild() }
}

final class PeerAttack {
  /// What a call to the peer sends at most: the answers to one compound's requests, and some reports.
  static let outboxSize = 160
  /// The path that a connected peer uses.
  static let home = NetworkPath(
    remote: SocketAddress(ipv4: 192, 0, 2, 0, port: 1_000),
    local: SocketAddress(ipv4: 10, 0, 0, 0, port: 3_478))
  private static let key = PeerKey(home: 1, serial: 1)
  private static let dtls: DTLSContext? = {
    guard let certificate = try? DTLSCertificate(notBefore: 0, notAfter: 4_000_000_000) else { return nil }
    return try? DTLSContext(certificate: certificate)
  }()

  /// A session that stays: without any, libsrtp would load its own libraries for each input.
  nonisolated(unsafe) private static let library: PeerTraffic = {
    let traffic = PeerTraffic()
    traffic.expect(PeerFarEnd(.aeadAES128GCM).near)
    return traffic
  }()

  private(set) var peer: Peer
  private var context: PeerContext
  private var now = Instant(nanoseconds: 1_000_000_000)
  private var random = RandomSource.seeded(state: 2)
  private var media: AgreedMedia
  /// How much less than at first is agreed on by now.
  private var variant = 0
  private let traffic = PeerTraffic()
  private var farEnd: PeerFarEnd?
  /// Packets of each track, for requests.
  private let histories = (0..<PeerMedia.tracks).map { _ in KeptPackets() }

  private final class KeptPackets {
    var packets = PacketHistory(packets: 64, bytes: 64 * 1_024)
  }

  /// - Parameter mode: bits 0 and 1: 0 nothing proven, 1 a path proven, else connected; bit 2: client of the handshake;
  ///   bit 3: first paths are believed; bit 4: RTCP of reduced size; bit 5: counter mode instead of GCM; bit 6: out as
  ///   bytes and in again at the end.
  init?(_ mode: UInt8) {
    guard let dtls = Self.dtls else { return nil }
    var made = PeerContext(
      epoch: Epoch(ntpAtZero: NTPTime(unixNanoseconds: 1_800_000_000_000_000_000)), dtls: dtls,
      random: .seeded(state: 1),
      outbox: Outbox(datagrams: Self.outboxSize) { _ in check(false, "no call sends without bounds") })
    let role: DTLSRole = mode & 4 == 0 ? .server : .client
    media = PeerMedia.agreed(0, reducedSize: mode & 16 != 0)
    let setup = PeerSetup(
      key: Self.key, local: ours,
      remote: RemoteTransport(credentials: theirs, fingerprints: [], role: role), media: media,
      verification: mode & 8 == 0 ? .always : .onChange, reportSSRC: PeerMedia.reportSSRC, createdAt: now)
    peer = Peer(setup, context: &made)
    context = made
    traffic.allowsReducedSize = media.allowsReducedSizeRTCP
    guard mode & 3 != 0 else { return }
    if mode & 2 != 0 {
      let farEnd = PeerFarEnd(mode & 32 == 0 ? .aeadAES128GCM : .aes128CMSHA1_80)
      let association = DTLSAssociation(
        role: role, localKeys: farEnd.near, remoteKeys: farEnd.far, lastFlight: [PeerFarEnd.changeCipherSpec])
      peer.connect(association, now: now, context: &context)
      _ = Self.library
      traffic.expect(farEnd.near)
      self.farEnd = farEnd
      settle()
    }
    provePath()
    for slot in 0..<PeerMedia.tracks { _ = assign(slot, true) }
  }

  /// The participant's own checks, until the path is in use.
  private func provePath() {
    var configuration = ControllingAgent.Configuration()
    configuration.isAggressive = true
    var agent = ControllingAgent(
      local: theirs, remote: ours, configuration: configuration, now: now, random: &random)
    agent.addLocal(Self.home.remote)
    agent.addRemote(Self.home.local, priority: 1 << 30)
    var output = ICEOutput()
    for _ in 0..<100 where peer.transport.selectedPath == nil {
      now = now + .milliseconds(10)
      _ = agent.poll(now: now, random: &random, output: &output)
      for _ in 0..<4 {
        let said = (0..<output.count).map { Array(output.bytes($0)) }
        output.removeAll()
        for datagram in said { receive(datagram, path: Self.home) }
        for datagram in traffic.takeChecks() {
          _ = datagram.withUnsafeBytes {
            agent.receive(
              $0, path: NetworkPath(remote: Self.home.local, local: Self.home.remote), now: now,
              random: &random, output: &output)
          }
        }
      }
    }
    check(peer.transport.selectedPath == Self.home, "a participant that answers is connected")
  }

  // MARK: - Steps

  func take(_ step: AttackScript.Step) {
    now = now + AttackScript.span(step.time)
    pollUntilIdle()
    guard peer.closed == nil else { return }
    switch step.kind & 15 {
    case 1: receive(repaired(step.message, password: ours.password, transaction: nil), path: step.path)
    case 2:
      receive(
        repaired(step.message, password: theirs.password, transaction: traffic.lastTransaction),
        path: step.path)
    case 3: if let sealed = farEnd?.sealRTP(step.message) { receive(sealed, path: step.path) }
    case 4: if let sealed = farEnd?.sealRTCP(step.message) { receive(sealed, path: step.path) }
    case 5, 6, 7:
      if let plain = farEnd?.packet(step.message), let sealed = farEnd?.sealRTP(plain) {
        receive(sealed, path: step.path)
      }
    case 8: command(step.message)
    case 10, 11:
      let compound = farEnd?.feedback(step.message, about: traffic)
      if let compound, let sealed = farEnd?.sealRTCP(compound) { receive(sealed, path: step.path) }
    case 9: if let again = farEnd?.lastSealed { receive(again, path: step.path) }
    default: receive(step.message, path: step.path)
    }
    pollUntilIdle()
    check(
      context.counters[.sealRefused] == 0 && context.counters[.sealFailed] == 0,
      "what is forwarded can be sealed")
  }

  /// What the control plane may ask at any time.
  private func command(_ message: [UInt8]) {
    let choice = message.first ?? 0
    let which = Int(message.dropFirst().first ?? 0)
    switch choice & 7 {
    case 0: rebuild()
    case 1:
      // What is gone never comes back.
      variant = max(variant, which & 3)
      media = PeerMedia.agreed(variant, reducedSize: media.allowsReducedSizeRTCP)
      peer.apply(media, context: &context)
      for slot in 0..<peer.slotCount { _ = assign(slot, peer.source(ofSlot: slot) != nil) }
    case 2: peer.setMuted(receiver: which % PeerMedia.tracks, which & 64 != 0)
    case 3: _ = assign(which % PeerMedia.tracks, which & 64 != 0)
    case 4: peer.requestKeyFrame(receiver: which % PeerMedia.tracks)
    case 5: peer.restartICE(local: ours, remote: theirs)
    case 6: peer.sayGoodbye(context: &context)
    default: _ = peer.quality
    }
    settle()
  }

  /// Feeds a slot from the track of its number, where there are both, or from none.
  private func assign(_ slot: Int, _ feeds: Bool) -> Bool {
    guard slot < peer.slotCount, let kind = peer.kind(ofSlot: slot) else { return false }
    let isFed = feeds && peer.kind(ofReceiver: slot) == kind
    if slot < peer.receiverCount { peer.setTag(receiver: slot, slot) }
    let track = TrackKey(peer: Self.key, index: UInt16(slot))
    return peer.setSource(
      slot: slot, isFed ? track : nil,
      clock: isFed ? peer.clock(receiver: slot, epoch: context.media.epoch) : nil)
  }

  /// Out as bytes and in again, where it has state.
  func rebuild() {
    guard let state = peer.encode() else { return }
    check(state.count < 1 << 20, "state has a bound")
    do throws(StateError) {
      try peer.goOn(from: state)
    } catch {
      fatalError("state is read: \(error)")
    }
    check(peer.encode() == state, "state is read and written alike")
    for receiver in 0..<peer.receiverCount { peer.setTag(receiver: receiver, receiver) }
  }

  // MARK: - What a worker does

  private func receive(_ datagram: [UInt8], path: NetworkPath) {
    // Of the exact size, so that the address sanitizer sees a read or write behind it.
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: datagram.count, alignment: 8)
    defer { memory.deallocate() }
    memory.copyBytes(from: datagram)
    traffic.came(datagram.count, on: path)
    let outcome = peer.receive(memory, path: path, arrival: now, now: now, context: &context)
    if case .media(let tag, let packet, let info) = outcome {
      check(histories.indices.contains(tag), "a packet is of a track that there is")
      check(
        packet.baseAddress! >= UnsafeRawPointer(memory.baseAddress!)
          && packet.baseAddress! + packet.count <= UnsafeRawPointer(memory.baseAddress! + memory.count),
        "a packet lies in its datagram")
      applyEffects()
      histories[tag].packets.store(packet, info, sequence: info.extendedSequence)
      let reference = PacketReference(track: tag, sequence: info.extendedSequence)
      for slot in slots(of: tag) { peer.select(info, reference, slot: slot, now: now, context: &context) }
      depart()
    }
    settle()
  }

  private func slots(of track: Int) -> [Int] {
    (0..<peer.slotCount).filter {
      peer.kind(ofSlot: $0) != nil && peer.source(ofSlot: $0)?.index == UInt16(track)
    }
  }

  private func pollUntilIdle() {
    var rounds = 0
    while peer.deadline <= now {
      rounds += 1
      check(rounds < 1_000, "what is due comes to an end")
      peer.poll(now: now, context: &context)
      if peer.departs { depart() }
      probe()
      settle()
    }
  }

  /// As an owner does: what is kept is sent again, else padding.
  private func probe() {
    while let due = peer.nextProbe(now: now) {
      let track = peer.source(ofSlot: due.slot).map { Int($0.index) }
      if let request = due.again, let track, histories.indices.contains(track),
        let kept = histories[track].packets.find(request.source)
      {
        peer.probe((request, kept.packet, kept.info), now: now, context: &context)
      } else {
        peer.probe(nil, now: now, context: &context)
      }
    }
  }

  private func applyEffects() {
    let effects = context.takeEffects().media
    check(effects.nackCount <= MediaEffects.nackCapacity, "requests have a bound")
    for index in 0..<effects.nackCount { retransmit(effects.nack(index)) }
    for slot in 0..<peer.slotCount where effects.keyFrameRequests[slot >> 6] >> UInt64(slot & 63) & 1 != 0 {
      if peer.kind(ofSlot: slot) != nil, let track = peer.source(ofSlot: slot) {
        peer.requestKeyFrame(receiver: Int(track.index))
      }
    }
    for track in 0..<peer.receiverCount where effects.clocks[track >> 6] >> UInt64(track & 63) & 1 != 0 {
      guard let clock = peer.clock(receiver: track, epoch: context.media.epoch) else { continue }
      for slot in slots(of: track) { peer.setClock(slot: slot, clock) }
    }
  }

  private func retransmit(_ wanted: MediaEffects.NACK) {
    let slot = Int(wanted.slot)
    guard let track = peer.source(ofSlot: slot),
      let request = peer.retransmission(of: wanted.sequence, slot: slot, now: now, context: &context)
    else { return }
    peer.retransmit(
      request, slot: slot, packet: PacketReference(track: Int(track.index), sequence: request.source))
    depart()
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

  /// After each call: acts on what it changed, and looks at what it sent.
  private func settle() {
    applyEffects()
    for index in 0..<context.transport.outbox.count {
      let entry = context.transport.outbox[index]
      let isProven = peer.transport.agent.isValidated(entry.path)
      traffic.left(Array(context.transport.outbox.bytes(entry)), on: entry.path, isProven: isProven)
    }
    context.transport.outbox.removeAll()
  }
}
