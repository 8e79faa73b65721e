import Congestion
import Model
import Testing

@testable import Media
@testable import Peer
@testable import Transport

/// What waits in a peer to leave, by where its owner keeps it.
@Suite("What leaves a peer", .timeLimit(.minutes(2)))
struct PeerDepartureTests {
  private static let track = TrackKey(peer: PeerKey(home: 1, serial: 9), index: 1)
  private static let packet = [UInt8](repeating: 0x80, count: 40)

  private func info(_ sequence: Int64, key: Bool = false) -> PacketInfo {
    var info = PacketInfo()
    info.format = .vp8
    info.primaryFormat = .vp8
    info.extendedSequence = sequence
    info.timestamp = UInt32(truncatingIfNeeded: sequence * 3_000)
    info.payloadOffset = 12
    info.payloadSize = 28
    if key { info.flags = [.keyFrame] }
    return info
  }

  private func subscriber(rtx: Bool = false) throws -> ConnectedPeer {
    var slot = ConnectedPeer.slot(0)
    if rtx {
      slot.codecs[0].rtxPayloadType = 101
      slot.rtxSSRC = 7_500
    }
    let far = try ConnectedPeer(AgreedMedia(send: [slot]))
    _ = far.peer.setSource(slot: 0, Self.track, clock: nil)
    return far
  }

  private func select(_ info: PacketInfo, _ far: ConnectedPeer) -> Bool {
    far.peer.select(
      info, PacketReference(track: 3, sequence: info.extendedSequence), slot: 0,
      now: far.now, context: &far.context)
  }

  private func next(_ far: ConnectedPeer) -> PacketReference? {
    far.peer.nextDeparture(now: far.now, context: &far.context)
  }

  /// The subscriber asks for a packet again.
  private func ask(_ number: UInt16, _ far: ConnectedPeer) throws {
    let request = far.peer.retransmission(of: number, slot: 0, now: far.now, context: &far.context)
    let wanted = try #require(request)
    far.peer.retransmit(wanted, slot: 0, packet: PacketReference(track: 3, sequence: wanted.source))
  }

  /// The next packet leaves.
  private func depart(_ info: PacketInfo, _ far: ConnectedPeer) {
    Self.packet.withUnsafeBytes { far.peer.depart($0, info, now: far.now, context: &far.context) }
  }

  private func taken(_ far: ConnectedPeer) -> [[UInt8]] {
    defer { far.context.transport.outbox.removeAll() }
    return (0..<far.context.transport.outbox.count).map {
      Array(far.context.transport.outbox.bytes(far.context.transport.outbox[$0]))
    }
  }

  @Test func `packets leave in the order in which they were selected, and none before`() throws {
    let far = try subscriber()
    for number in 100..<140 as Range<Int64> { #expect(select(info(number, key: number == 100), far)) }
    #expect(taken(far).isEmpty)
    for number in 100..<140 as Range<Int64> {
      #expect(next(far)?.sequence == number && next(far)?.track == 3)
      depart(info(number, key: number == 100), far)
    }
    #expect(next(far) == nil)
    let numbers = taken(far).map { UInt16($0[2]) << 8 | UInt16($0[3]) }
    #expect(numbers == (0..<40).map { numbers[0] &+ $0 })
  }

  @Test func `a subscriber without a retransmission stream gets the very bytes again that were sealed first`()
    throws
  {
    let far = try subscriber()
    #expect(select(info(100, key: true), far))
    depart(info(100, key: true), far)
    let first = try #require(taken(far).first)
    try ask(UInt16(first[2]) << 8 | UInt16(first[3]), far)
    #expect(next(far)?.sequence == 100)
    far.now = far.now + .milliseconds(40)
    depart(info(100, key: true), far)
    #expect(taken(far) == [first] && far.dropped(TransportDrop.sealRefused) == 0)
    #expect(far.context.media.counters.retransmissionsSent == 1)
  }

  @Test func `what is asked for again leaves before what is new, in a stream of its own`() throws {
    let far = try subscriber(rtx: true)
    #expect(select(info(100, key: true), far))
    depart(info(100, key: true), far)
    let first = try #require(taken(far).first)
    #expect(select(info(101), far))
    let number = UInt16(first[2]) << 8 | UInt16(first[3])
    try ask(number, far)
    #expect(next(far)?.sequence == 100)
    depart(info(100, key: true), far)
    #expect(next(far)?.sequence == 101)
    depart(info(101), far)
    #expect(taken(far).map { $0[1] & 0x7F } == [101, 100])
    // What was never sent isn't.
    let none = far.peer.retransmission(of: number &+ 9, slot: 0, now: far.now, context: &far.context)
    #expect(none == nil)
    #expect(next(far) == nil && far.dropped(SessionDrop.nackRefused) == 1)
  }

  @Test func `what its owner no longer keeps is dropped and counted, and what can't be shown without it`()
    throws
  {
    let far = try subscriber()
    #expect(select(info(100, key: true), far) && select(info(101), far))
    far.peer.dropDeparture(now: far.now, context: &far.context)
    #expect(next(far) == nil && taken(far).isEmpty)
    #expect(far.dropped(SessionDrop.tooLateToLeave) == 2 && far.peer.needsKeyFrame(slot: 0))
  }

  @Test func `nothing of a slot's former source leaves`() throws {
    let far = try subscriber()
    #expect(select(info(100, key: true), far) && select(info(101), far))
    _ = far.peer.setSource(slot: 0, nil, clock: nil)
    #expect(next(far) == nil)
    _ = far.peer.setSource(slot: 0, Self.track, clock: nil)
    #expect(select(info(102, key: true), far))
    far.apply(AgreedMedia())
    #expect(next(far) == nil, "the section is gone")
  }

  @Test func `without a path nothing waits, and what waited is dropped`() throws {
    let far = try subscriber()
    #expect(select(info(100, key: true), far))
    far.peer.transport.path = nil
    #expect(!select(info(101), far) && far.dropped(TransportDrop.sendWithoutPath) == 1)
    depart(info(100, key: true), far)
    #expect(taken(far).isEmpty && far.dropped(SessionDrop.tooLateToLeave) == 1)
    #expect(next(far) == nil)
  }

  @Test func `more than may wait is refused, and counted`() throws {
    let far = try subscriber()
    for number in 0..<1_024 as Range<Int64> { #expect(select(info(number, key: number == 0), far)) }
    #expect(!select(info(1_024), far))
    #expect(far.dropped(SessionDrop.tooLateToLeave) == 1)
  }

  // MARK: - Where the path is full

  /// The path has room for a packet now and then.
  private func fill(_ far: ConnectedPeer) {
    far.peer.egress.pacer.setTarget(100_000)
    _ = far.peer.egress.pacer.mayLeave(far.now)
    far.peer.egress.pacer.charge(100_000)
  }

  private func picture(_ sequence: Int64, _ flags: PacketInfo.Flags) -> PacketInfo {
    var info = info(sequence)
    info.flags = flags
    return info
  }

  @Test func `a picture that waits for too long is cut off, and a key frame is asked for once and at once`()
    throws
  {
    let far = try subscriber()
    depart(first: info(100, key: true), far)
    fill(far)
    for number in 101..<110 as Range<Int64> { #expect(select(info(number), far)) }
    #expect(next(far) == nil && far.peer.takeCut() == nil && !far.peer.needsKeyFrame(slot: 0))
    far.now = far.now + .milliseconds(301)
    #expect(next(far) == nil && far.dropped(SessionDrop.tooLateToLeave) == 9)
    #expect(far.peer.takeCut() == 0 && far.peer.takeCut() == nil)
    #expect(far.peer.needsKeyFrame(slot: 0) && !far.peer.departs)
    // Nothing of the slot leaves before it.
    far.peer.egress.pacer.setTarget(nil)
    #expect(select(info(110), far) && !far.peer.departs)
    #expect(select(info(111, key: true), far) && next(far)?.sequence == 111)
  }

  @Test func `where much waits, whole frames are left out that no other refers to`() throws {
    let far = try subscriber()
    depart(first: info(100, key: true), far)
    fill(far)
    #expect(select(picture(101, [.frameStart]), far))
    #expect(select(picture(102, [.frameStart, .discardable]), far), "it doesn't wait for long yet")
    far.now = far.now + .milliseconds(120)
    var second = picture(104, [.discardable])
    second.timestamp = 103 * 3_000
    for packet in [picture(103, [.frameStart, .discardable]), second, picture(105, [.frameStart])] {
      #expect(select(packet, far))
    }
    // One whose beginning has left isn't left without its end.
    var rest = picture(106, [.discardable])
    rest.timestamp = 105 * 3_000
    #expect(select(rest, far))
    far.peer.egress.pacer.setTarget(nil)
    var left: [Int64] = []
    let first = try #require(taken(far).last)
    while let packet = next(far) {
      left.append(packet.sequence)
      depart(info(packet.sequence), far)
    }
    #expect(left == [101, 105, 106])
    let numbers = taken(far).map { UInt16($0[2]) << 8 | UInt16($0[3]) }
    let before = UInt16(first[2]) << 8 | UInt16(first[3])
    #expect(numbers == (1...3).map { before &+ $0 }, "the subscriber sees no gap")
    #expect(far.dropped(SessionDrop.tooLateToLeave) == 0)
  }

  /// Of another slot: sound.
  private func sound(_ sequence: Int64) -> PacketInfo {
    var info = info(sequence)
    info.format = .opus
    info.primaryFormat = .opus
    return info
  }

  @Test func `sound leaves at once where pictures wait, and what it takes is theirs to wait for`() throws {
    let far = try ConnectedPeer(AgreedMedia(send: [ConnectedPeer.slot(0), ConnectedPeer.slot(1, .audio)]))
    _ = far.peer.setSource(slot: 0, Self.track, clock: nil)
    _ = far.peer.setSource(slot: 1, TrackKey(peer: Self.track.peer, index: 2), clock: nil)
    depart(first: info(100, key: true), far)
    fill(far)
    for number in 101..<110 as Range<Int64> { #expect(select(info(number), far)) }
    #expect(next(far) == nil)
    let whole = far.peer.egress.pacer.next(far.now)
    _ = taken(far)
    for number in 1...5 as ClosedRange<Int64> {
      let forwarded = Self.packet.withUnsafeBytes {
        far.peer.forward(
          $0, sound(number), PacketReference(track: 4, sequence: number), slot: 1, now: far.now,
          context: &far.context)
      }
      #expect(forwarded == .done && taken(far).count == 1)
    }
    #expect(next(far) == nil && far.peer.egress.pacer.next(far.now) >= whole)
  }

  // MARK: - Probes

  private func due(_ far: ConnectedPeer) -> (slot: Int, again: RetransmissionRequest?)? {
    far.peer.nextProbe(now: far.now)
  }

  private func probe(at rate: Double, _ far: ConnectedPeer) {
    let plan = ProbePlan(cluster: 1, rate: rate, packets: 3, bytes: 0)
    far.peer.egress.probe = ActiveProbe(plan: plan, slot: 0, startedAt: far.now)
  }

  @Test func `a probe sends again what was sent lately, and padding where its owner doesn't keep that`()
    throws
  {
    let far = try subscriber(rtx: true)
    depart(first: info(100, key: true), far)
    for number in 101...104 as ClosedRange<Int64> { depart(first: info(number), far) }
    let numbers = taken(far).map { UInt16($0[2]) << 8 | UInt16($0[3]) }
    probe(at: 2_000_000, far)
    let found = due(far)
    #expect(found?.again?.source == 104 && found?.slot == 0)
    let request = try #require(found?.again)
    Self.packet.withUnsafeBytes {
      far.peer.probe((request, $0, info(104)), now: far.now, context: &far.context)
    }
    #expect(due(far) == nil, "the next is due once this one's time has passed")
    far.now = far.now + .milliseconds(1)
    #expect(due(far)?.again?.source == 103)
    far.peer.probe(nil, now: far.now, context: &far.context)
    let left = taken(far)
    #expect(left.map { $0[1] & 0x7F } == [101, 101])
    #expect(left[1][0] & 0x20 != 0 && left[0][0] & 0x20 == 0, "padding says so")
    depart(first: info(105), far)
    let next = try #require(taken(far).first)
    #expect(UInt16(next[2]) << 8 | UInt16(next[3]) == numbers[4] &+ 1, "no number of media was used")
    #expect(far.peer.counters(ofSlot: 0).retransmitted == 0 && far.peer.counters(ofSlot: 0).padding == 2)
  }

  @Test func `a slow probe is padding, which it needs less of`() throws {
    let far = try subscriber(rtx: true)
    depart(first: info(100, key: true), far)
    probe(at: 300_000, far)
    let found = due(far)
    #expect(found != nil && found?.again == nil)
  }

  @Test func `media that leaves while a probe does is of it`() throws {
    let far = try subscriber(rtx: true)
    depart(first: info(100, key: true), far)
    probe(at: 2_000_000, far)
    for number in 101...102 as ClosedRange<Int64> { depart(first: info(number), far) }
    #expect(far.peer.egress.probe?.packets == 2 && (far.peer.egress.probe?.bytes ?? 0) > 100)
    #expect(due(far) == nil, "what left takes its time of the path")
    depart(first: info(103), far)
    #expect(far.peer.egress.probe == nil, "nothing has to be sent that shows nothing")
    #expect(far.peer.counters(ofSlot: 0).padding == 0)
  }

  @Test func `padding is no more than 255 bytes`() throws {
    let far = try subscriber(rtx: true)
    depart(first: info(100, key: true), far)
    _ = taken(far)
    probe(at: 300_000, far)
    var sizes: [Int] = []
    while sizes.count < 3, due(far) != nil {
      far.peer.probe(nil, now: far.now, context: &far.context)
      sizes += taken(far).map(\.count)
      far.now = far.now + .milliseconds(40)
    }
    // A header of 12 bytes with its extensions, at most 255 of padding, and the tag.
    #expect(!sizes.isEmpty && sizes.allSatisfy { $0 > 200 && $0 <= 12 + 16 + 255 + 16 })
  }

  private func waits(_ feed: Int, _ far: ConnectedPeer, slot: Int = 0) -> Bool {
    far.peer.departs(slot: slot, from: feed)
  }

  @Test func `a slot's former feed is of use as long as something of it waits there`() throws {
    let far = try subscriber(rtx: true)
    for number in 100...101 as ClosedRange<Int64> { #expect(select(info(number, key: number == 100), far)) }
    let other = PacketReference(track: 4, sequence: 102)
    let isQueued = far.peer.select(info(102), other, slot: 0, now: far.now, context: &far.context)
    #expect(isQueued)
    #expect(waits(3, far) && !waits(4, far))
    depart(info(100, key: true), far)
    #expect(waits(3, far) && !waits(3, far, slot: 1))
    depart(info(101), far)
    #expect(!waits(3, far), "what waits of others is no reason to keep it")
    #expect(waits(4, far))
  }

  private func depart(first info: PacketInfo, _ far: ConnectedPeer) {
    #expect(select(info, far))
    depart(info, far)
  }
}
