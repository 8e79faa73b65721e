import Crypto
import Model
import Peer
import Simulation
import SyntheticPeers
import Testing
import Wire

@Suite("Attack: DTLS", .timeLimit(.minutes(5)))
struct DTLSAttackTests {
  /// After a failed handshake its far end says a few things more.
  private static let afterwards: Set<String> = ["unknownPath", "unknownFragment"]

  /// Takes datagrams off the cable as long as it is on.
  private final class Holder {
    var held: [AttackRange.Datagram] = []
    var hellos: [[UInt8]] = []
    var holdsHello = false
    var holdsRest = false

    init(_ range: AttackRange, from address: SocketAddress) {
      range.passes = { [self] datagram in
        guard datagram.toServer, datagram.isDTLS, datagram.path.remote == address else { return true }
        if datagram.isClientHello { hellos.append(datagram.bytes) }
        guard datagram.isClientHello ? holdsHello : holdsRest else { return true }
        held.append(datagram)
        return false
      }
    }

    func release(_ range: AttackRange) {
      holdsHello = false
      holdsRest = false
      range.release(held)
      held = []
    }
  }

  /// A ClientHello of somebody else's: its random bytes are others.
  private func other(_ hello: [UInt8], _ number: Int) -> [UInt8] {
    var changed = hello
    for byte in 0..<4 { changed[13 + 12 + 2 + byte] ^= UInt8(truncatingIfNeeded: (number + 1) >> (8 * byte)) }
    return changed
  }

  @Test func `ClientHello flood on a finished handshake, and from strangers`() throws {
    let range = try AttackRange()
    let address = range.address(onWorker: 0, host: 66)
    let holder = Holder(range, from: address)
    let attacker = try Attacker(range)
    #expect(attacker.member.peer.isConnected)
    let hello = try #require(holder.hellos.first)
    let strangers = range.addresses(onWorker: 0, host: 200, count: 100)
    try withstand(range, times: 400, raising: ["dtlsIgnored": 200, "unknownPath": 200]) { index in
      range.inject(
        other(hello, index), from: index % 2 == 0 ? address : strangers[index / 2 % strangers.count])
    }
    try attacker.publish(.audio)
    #expect(range.strays.isEmpty)
  }

  @Test func `ClientHello flood in the middle of a handshake`() throws {
    let range = try AttackRange()
    let address = range.address(onWorker: 0, host: 68)
    let holder = Holder(range, from: address)
    holder.holdsRest = true
    let newcomer = try range.join(at: address, isHostile: true)
    range.run(for: .milliseconds(20))
    let hello = try #require(holder.hellos.first)
    #expect(!holder.held.isEmpty, "the server has answered the true one")
    try withstand(range, times: 200, raising: ["dtlsOtherHello": 200]) { index in
      range.inject(other(hello, index), from: address)
    }
    holder.release(range)
    range.run(for: .milliseconds(20))
    #expect(newcomer.peer.isConnected && newcomer.closed == nil)
  }

  @Test func `ClientHello flood before the path is proven`() throws {
    let range = try AttackRange()
    let address = range.address(onWorker: 0, host: 68)
    var hello: [UInt8] = []
    var isHolding = true
    range.passes = { datagram in
      guard datagram.path.remote == address else { return true }
      if datagram.isClientHello { hello = datagram.bytes }
      // The server's checks don't reach it, so that it can't answer them.
      return !(isHolding && (datagram.isClientHello || !datagram.toServer && datagram.isCheck))
    }
    let sizes = range.sizes()
    let newcomer = try range.join(at: address, isHostile: true)
    range.run(for: .milliseconds(20))
    try #require(!hello.isEmpty)
    // Four are held for three seconds, and then they are of no use, either.
    try withstand(range, times: 100, raising: ["dtlsHeldOverflow": 100], settle: .seconds(4)) { index in
      range.inject(other(hello, index), from: address)
    }
    isHolding = false
    range.leave(newcomer)
    let left = range.sizes()
    #expect(left == sizes)
    // Without that it connects.
    let again = try range.join(at: address, isHostile: true)
    range.run(for: .milliseconds(50))
    #expect(again.peer.isConnected)
  }

  @Test func `ClientHello race`() throws {
    let range = try AttackRange()
    let address = range.address(onWorker: 0, host: 68)
    let holder = Holder(range, from: address)
    let first = try range.join(at: address, isHostile: true)
    range.run(for: .milliseconds(50))
    #expect(first.peer.isConnected)
    let stolen = try #require(holder.hellos.first)
    range.leave(first)
    // Somebody else's comes first: the true one is recognised, the other counted, the far end gives up, its peer ends.
    try withstand(
      range, times: 5,
      raising: ["dtlsOtherHello": 5, "handshake.alertReceived": 5, "ended.handshakeFailed": 5],
      besides: Self.afterwards, pause: .milliseconds(5), repeats: Figures.slowRepeats
    ) { _ in
      holder.holdsHello = true
      holder.holdsRest = true
      let newcomer = try range.join(at: address, isHostile: true)
      range.run(for: .milliseconds(20))
      range.inject(stolen, from: address)
      range.run(for: .milliseconds(5))
      holder.release(range)
      range.run(for: .milliseconds(5))
      if newcomer.closed != .handshakeFailed { Issue.record("\(String(describing: newcomer.closed))") }
      range.forget(newcomer)
      holder.hellos = []
    }
    // Who comes again is let in.
    let again = try range.join(at: address, isHostile: true)
    range.run(for: .milliseconds(50))
    #expect(again.peer.isConnected && again.closed == nil)
  }

  // MARK: Fragments

  /// A ClientHello in one record, in pieces of its body.
  private func pieces(
    of hello: [UInt8], _ ranges: [(offset: Int, size: Int)], length: Int? = nil, sizes: [Int]? = nil
  ) -> [UInt8] {
    let body = Array(hello[25...])
    var payload: [UInt8] = []
    func append(_ number: Int) {
      for shift in [16, 8, 0] { payload.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
    for (place, piece) in ranges.enumerated() {
      payload.append(1)
      append(length ?? body.count)
      payload += [0, 0]
      append(piece.offset)
      append(sizes?[place] ?? piece.size)
      let start = min(piece.offset, body.count)
      payload += body[start..<min(start + piece.size, body.count)]
    }
    return Array(hello[..<11]) + [UInt8(payload.count >> 8), UInt8(payload.count & 255)] + payload
  }

  @Test func `ClientHello in fragments that overlap`() throws {
    let range = try AttackRange()
    let address = range.address(onWorker: 0, host: 68)
    let holder = Holder(range, from: address)
    holder.holdsHello = true
    let overlapped = try range.join(at: address, isHostile: true)
    range.run(for: .milliseconds(20))
    let hello = try #require(holder.hellos.first)
    let size = hello.count - 25
    // Those that agree with each other are a ClientHello (RFC 6347 §4.2.3).
    range.inject(pieces(of: hello, [(0, 100), (60, 80), (120, size - 120)]), from: address)
    range.run(for: .milliseconds(30))
    #expect(overlapped.peer.isConnected && overlapped.closed == nil)
    holder.held = []
    range.leave(overlapped)

    holder.holdsHello = true
    holder.hellos = []
    let newcomer = try range.join(at: address, isHostile: true)
    range.run(for: .milliseconds(20))
    let own = try #require(holder.hellos.first)
    let broken = [
      // Beyond the message's end; beyond the record's; nothing of something; of a message too long for any.
      pieces(of: own, [(size - 10, 10)], length: size - 5),
      pieces(of: own, [(0, 100), (60, 80)], sizes: [100, 200]),
      pieces(of: own, [(0, 100), (50, 0)]),
      pieces(of: own, [(0, 100), (60, 80)], length: 40_000),
    ]
    try withstand(range, times: 200, raising: ["dtlsMalformed": 200]) { index in
      range.inject(broken[index % broken.count], from: address)
    }
    // Its own is taken, and fragments of others that overlap it are recognised.
    holder.holdsRest = true
    holder.holdsHello = false
    range.release(holder.held)
    holder.held = []
    range.run(for: .milliseconds(5))
    #expect(!holder.held.isEmpty)
    let before = range.reasons()
    for index in 0..<100 {
      range.inject(pieces(of: own, [(0, 100), (60, 80)], length: size + 1 + index), from: address)
      range.inject(pieces(of: other(own, index), [(0, 100), (60, 80)]), from: address)
      range.run(for: .milliseconds(1))
    }
    #expect(range.risen(since: before) == ["dtlsOtherHello": 200])
    holder.release(range)
    range.run(for: .milliseconds(20))
    #expect(newcomer.peer.isConnected && newcomer.closed == nil)
  }

  @Test func `plaintext after the handshake`() throws {
    let range = try AttackRange()
    let attacker = try Attacker(range)
    try attacker.publish(.audio)
    func record(_ type: UInt8, _ payload: [UInt8]) -> [UInt8] {
      [type, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, UInt8(payload.count)] + payload
    }
    let records = [
      record(23, Attacker.filler(40)), record(21, [2, 40]), record(20, [1]),
      record(22, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ]
    try withstand(range, times: 200, raising: ["dtlsIgnored": 200]) { index in
      range.inject(records[index % records.count], from: attacker.address)
    }
    // And media that isn't sealed.
    let again = try AttackRange()
    let other = try Attacker(again)
    try other.publish(.audio)
    let rtp: [UInt8] = [0x80, 111, 0x7F, 0, 0, 0, 0, 0, 0, 0, 0, 1] + Attacker.filler(60)
    let rtcp = Forge.compound { $0.append(cname: "in clear", ssrc: 7) } + [0, 0, 0, 0]
    try withstand(again, times: 200, raising: ["srtpAuthentication": 100, "srtpMalformed": 100]) { index in
      again.inject(index % 2 == 0 ? rtp : rtcp + Attacker.filler(16) + [0, 0, 0, 0], from: other.address)
    }
  }

  @Test(arguments: [false, true])
  func `wrong fingerprint in both roles`(serverBegins: Bool) throws {
    let range = try AttackRange()
    let address = range.address(onWorker: 0, host: 68)
    let right = try range.join(at: address, isHostile: true, waits: serverBegins)
    range.run(for: .milliseconds(50))
    #expect(right.peer.isConnected)
    range.leave(right)
    let wrong = Fingerprint(algorithm: .sha256, digest: Array(repeating: 1, count: 32))
    try withstand(
      range, times: 5, raising: ["handshake.wrongFingerprint": 5, "ended.handshakeFailed": 5],
      besides: Self.afterwards, repeats: Figures.slowRepeats
    ) { _ in
      let newcomer = try range.join(at: address, isHostile: true, waits: serverBegins, fingerprints: [wrong])
      range.run(for: .milliseconds(50))
      if newcomer.closed != .handshakeFailed { Issue.record("\(String(describing: newcomer.closed))") }
      // What the far end sent meanwhile, to come before the next one.
      range.run(for: .milliseconds(5))
      range.forget(newcomer)
    }
  }
}
