import Crypto
import ICE
import Model
import Testing

@testable import Transport

@Suite("A transport and its far end", .timeLimit(.minutes(2)))
struct TransportTests {
  /// Seals a packet in an end and hands over its datagram.
  private func sealed<Agent: ICEAgent & ~Copyable>(
    _ end: End<Agent>, index: UInt64, _ admitted: inout SealGuard
  ) -> [UInt8]? {
    let room = end.context.outbox.reserve()
    let header: [UInt8] = [0x80, 96, UInt8(index >> 8), UInt8(index & 255), 0, 0, 0, 1, 0, 0, 0, 9]
    room.copyBytes(from: header + [1, 2, 3, 4, 5])
    return end.transport.sealRTP(
      room, headerSize: 12, size: 17, ssrc: 9, index: index, &admitted, context: &end.context
    ).map { Array(room[..<$0]) }
  }

  private var paths: (server: NetworkPath, far: NetworkPath) {
    let here = SocketAddress(ipv4: 10, 0, 0, 1, port: 1)
    let there = SocketAddress(ipv4: 192, 0, 2, 1, port: 5_000)
    return (NetworkPath(remote: there, local: here), NetworkPath(remote: here, local: there))
  }

  @Test(arguments: [DTLSRole.client, .server])
  func `a far end with a controlling agent connects, and packets pass both ways`(farRole: DTLSRole) throws {
    let pair = try Pair(farRole: farRole)
    pair.run(milliseconds: 1_000)
    let bothConnected = pair.server.transport.takesMedia && pair.far.transport.takesMedia
    #expect(bothConnected)
    let profiles = (pair.server.transport.profile, pair.far.transport.profile)
    #expect(profiles.0 != nil && profiles.0 == profiles.1)
    #expect(pair.server.context.events.selection == .first && pair.server.context.events.connected != nil)

    var admitted = SealGuard()
    let up = try #require(sealed(pair.far, index: 100, &admitted))
    guard case .rtp(17, false) = pair.server.receive(up, paths.server, at: pair.now) else {
      return #expect(Bool(false), "the server opens what the far end sealed")
    }
    var others = SealGuard()
    let down = try #require(sealed(pair.server, index: 7, &others))
    guard case .rtp(17, false) = pair.far.receive(down, paths.far, at: pair.now) else {
      return #expect(Bool(false), "and the other way round")
    }
    // An empty receiver report.
    let compound: [UInt8] = [0x80, 201, 0, 1, 0, 0, 0, 9]
    compound.withUnsafeBytes {
      pair.server.transport.send(rtcp: $0, source: 9, context: &pair.server.context)
    }
    let sent = pair.server.take()
    #expect(sent.count == 1)
    guard case .rtcp(8, false) = pair.far.receive(sent[0].bytes, paths.far, at: pair.now) else {
      return #expect(Bool(false), "and compounds")
    }
  }

  @Test(arguments: [DTLSRole.client, .server])
  func `each end hears that the other closes, also after its state went through bytes`(farRole: DTLSRole)
    throws
  {
    let pair = try Pair(farRole: farRole)
    pair.server.transport.sayFarewell(context: &pair.server.context)
    #expect(pair.server.take().isEmpty, "before there are keys there is no one to say it to")
    pair.run(milliseconds: 1_000)
    _ = try pair.server.rebuild()
    pair.far.context.events.clear()
    pair.server.context.events.clear()
    pair.server.transport.sayFarewell(context: &pair.server.context)
    pair.run(milliseconds: 10)
    let heard = (pair.far.context.events.saidFarewell, pair.server.context.events.saidFarewell)
    #expect(heard == (true, false))
    pair.far.transport.sayFarewell(context: &pair.far.context)
    let last = pair.far.take()
    let bytes = try #require(last.first).bytes
    #expect(last.count == 1 && bytes[0] == 21)
    _ = pair.server.receive(bytes, paths.server, at: pair.now)
    let end = (pair.server.context.events.saidFarewell, pair.server.context.events.closed)
    #expect(end.0 && end.1 == nil, "whether it ends is its owner's to say")
  }

  @Test func `an index is sealed once, and a replayed packet is opened once`() throws {
    let pair = try Pair()
    pair.run(milliseconds: 1_000)
    var admitted = SealGuard(traps: false)
    let packet = try #require(sealed(pair.far, index: 100, &admitted))
    let again = sealed(pair.far, index: 100, &admitted)
    #expect(again == nil && pair.far.context.counters[.sealRefused] == 1)
    _ = pair.server.receive(packet, paths.server, at: pair.now)
    guard case .none = pair.server.receive(packet, paths.server, at: pair.now) else {
      return #expect(Bool(false), "it was opened before")
    }
    #expect(pair.server.context.counters[.srtpReplayed] == 1)
  }

  @Test func `nothing but STUN is taken before its path is proven, nothing sealed before the handshake`()
    throws
  {
    let pair = try Pair()
    // No answer to the server's own check comes, so its path stays unproven.
    pair.passes = { toServer, bytes in !toServer || bytes[0] > 3 || bytes[0] == 0 }
    pair.run(milliseconds: 400)
    let connected = pair.server.transport.isConnected
    #expect(!connected)
    let media = [UInt8](repeating: 0x80, count: 60)
    _ = pair.server.receive(media, paths.server, at: pair.now)
    _ = pair.server.receive([64, 0], paths.server, at: pair.now)
    #expect(pair.server.context.counters[.unknownProtocol] == 1)
    pair.server.transport.send(
      rtcp: UnsafeRawBufferPointer(start: nil, count: 0), source: 9, context: &pair.server.context)
    #expect(pair.server.context.counters[.sendWithoutPath] == 1)
    #expect(
      pair.server.context.counters[.unvalidatedPath] + pair.server.context.counters[.mediaBeforeHandshake]
        == 1)
  }

  @Test func `what isn't authentic doesn't count as received`() throws {
    let pair = try Pair()
    pair.run(milliseconds: 1_000)
    var admitted = SealGuard()
    let packet = try #require(sealed(pair.far, index: 100, &admitted))
    let before = pair.server.context.counters.packetsReceived
    let bytes = pair.server.context.counters.bytesReceived
    var forged = packet
    forged[forged.count - 1] ^= 1
    _ = pair.server.receive(forged, paths.server, at: pair.now)
    _ = pair.server.receive([0x80, 201] + [UInt8](repeating: 0, count: 40), paths.server, at: pair.now)
    #expect(pair.server.context.counters.packetsReceived == before)
    #expect(pair.server.context.counters.bytesReceived == bytes)
    _ = pair.server.receive(packet, paths.server, at: pair.now)
    #expect(pair.server.context.counters.packetsReceived == before + 1)
    #expect(pair.server.context.counters.bytesReceived == bytes + UInt64(packet.count))
  }

  @Test func `media from an address that nothing is known of is not even opened`() throws {
    let pair = try Pair()
    pair.run(milliseconds: 1_000)
    var admitted = SealGuard()
    let packet = try #require(sealed(pair.far, index: 100, &admitted))
    let elsewhere = NetworkPath(
      remote: SocketAddress(ipv4: 203, 0, 113, 9, port: 9), local: paths.server.local)
    guard case .none = pair.server.receive(packet, elsewhere, at: pair.now) else {
      return #expect(Bool(false), "the path is not proven")
    }
    #expect(pair.server.context.counters[.unvalidatedPath] == 1)
    guard case .rtp = pair.server.receive(packet, paths.server, at: pair.now) else {
      return #expect(Bool(false), "it was not taken for opened")
    }
  }

  @Test func `a transport that gets nothing ends after half a minute, and so does one that falls silent`()
    throws
  {
    let lonely = try Pair()
    lonely.passes = { _, _ in false }
    lonely.run(milliseconds: 30_100)
    #expect(lonely.server.transport.ended == .neverConnected)
    #expect(lonely.server.context.events.closed == .neverConnected)
    let pair = try Pair()
    pair.run(milliseconds: 1_000)
    pair.passes = { _, _ in false }
    pair.run(milliseconds: 40_000)
    #expect(pair.server.transport.ended == .connectionLost && pair.server.transport.selectedPath == nil)
  }

  @Test func `both go on from their bytes, except in the middle of a handshake`() throws {
    let halfway = try Pair()
    halfway.passes = { toServer, bytes in toServer || !(20...63).contains(bytes[0]) }
    halfway.run(milliseconds: 300)
    let none = try halfway.server.rebuild()
    #expect(none == nil, "the handshake lives inside OpenSSL")
    let pair = try Pair()
    pair.run(milliseconds: 1_000)
    var admitted = SealGuard()
    let packet = try #require(sealed(pair.far, index: 100, &admitted))
    _ = pair.server.receive(packet, paths.server, at: pair.now)
    let first = try #require(try pair.server.rebuild())
    let second = try #require(try pair.server.rebuild())
    #expect(first == second)
    #expect(try pair.far.rebuild() != nil)
    guard case .none = pair.server.receive(packet, paths.server, at: pair.now) else {
      return #expect(Bool(false), "what was opened before is refused still")
    }
    let next = try #require(sealed(pair.far, index: 101, &admitted))
    guard case .rtp = pair.server.receive(next, paths.server, at: pair.now) else {
      return #expect(Bool(false), "what comes next is opened")
    }
    pair.run(milliseconds: 60_000)
    let open = pair.server.transport.takesMedia && pair.far.transport.takesMedia
    #expect(open, "consent goes on")
  }

  @Test func `a version that is unknown is refused by name`() throws {
    let pair = try Pair()
    pair.run(milliseconds: 1_000)
    var bytes = try #require(try pair.server.rebuild())
    for version in [0, 2, 255] as [UInt8] {
      bytes[0] = version
      do {
        var reader = StateReader(bytes)
        _ = try Transport<ServerAgent>(from: &reader)
        #expect(Bool(false), "version \(version) is none")
      } catch {
        #expect(error == .version(Int(version), of: "transport", known: 1...1, offset: 0))
      }
    }
  }
}
