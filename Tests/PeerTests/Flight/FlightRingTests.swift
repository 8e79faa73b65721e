import Model
import Testing

@testable import Peer

extension FlightRing {
  /// A packet of RTP, either way.
  mutating func note(
    rtp packet: UnsafeRawBufferPointer, size: Int, _ path: NetworkPath, isInbound: Bool, now: Instant,
    _ memory: FlightMemory
  ) {
    guard !isInbound else { return note(received: packet, size: size, path, now: now, memory) }
    paths.selected = paths.outbound(path)
    note(leaving: packet, header: Self.headerSize(packet), cluster: 0, now: now, memory)
  }
}

@Suite("Flight recorders", .timeLimit(.minutes(2)))
struct FlightRingTests {
  static let most = FlightMemory.mostOfRecorder / FlightMemory.blockSize * FlightRing.cellsOfBlock

  static func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

  static func path(_ number: Int) -> NetworkPath {
    NetworkPath(
      remote: SocketAddress(ipv4: 192, 0, 2, UInt8(number % 250), port: UInt16(1_000 + number)),
      local: SocketAddress(ipv4: 203, 0, 113, 1, port: 7_882))
  }

  /// A packet whose SSRC is a number, with a payload.
  static func packet(_ number: UInt32, payload: Int = 1_100) -> [UInt8] {
    [0x80, 96, UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number), 0, 0, 0, 5]
      + withUnsafeBytes(of: number.bigEndian) { Array($0) } + [UInt8](repeating: 0xEE, count: payload)
  }

  static func note(
    _ ring: inout FlightRing, _ number: UInt32, at: Instant, path: Int = 0, payload: Int = 1_100,
    _ memory: FlightMemory
  ) {
    packet(number, payload: payload).withUnsafeBytes {
      ring.note(rtp: $0, size: $0.count, Self.path(path), isInbound: false, now: at, memory)
    }
  }

  static func recording(_ ring: borrowing FlightRing, at: Instant = Self.at(0)) -> FlightRecording {
    FlightRecording(peer: PeerKey(rawValue: 1), cells: ring.copy(), paths: ring.paths.all, takenAt: at)
  }

  static func records(_ recording: FlightRecording) -> [(head: FlightCell, bytes: [UInt8])] {
    var found: [(FlightCell, [UInt8])] = []
    recording.visit { found.append(($0, Array($1))) }
    return found
  }

  static func numbers(_ recording: FlightRecording) -> [UInt32] {
    records(recording).map { $0.bytes[8..<12].reduce(0) { $0 << 8 | UInt32($1) } }
  }

  @Test func `a piece has 32 bytes, and a peer that sends nothing takes no memory`() {
    #expect(FlightRing.cellSize == 32 && FlightRing.cellsOfBlock == 255)
    let memory = FlightMemory()
    let ring = FlightRing()
    #expect(memory.used == 0 && memory.recorders == 0 && Self.recording(ring).isEmpty)
  }

  @Test func `a flood of a million packets of the largest size takes 512 KiB, and keeps the newest in order`()
  {
    let memory = FlightMemory()
    do {
      var ring = FlightRing()
      var last = 0
      let path = Self.path(0)
      // In pace with what a minute may hold, so that none is too old.
      var packet = Self.packet(0, payload: 1_556)
      for number in 0..<UInt32(1_000_000) {
        packet.withUnsafeMutableBytes {
          $0.storeBytes(of: number.bigEndian, toByteOffset: 8, as: UInt32.self)
          ring.note(
            rtp: UnsafeRawBufferPointer($0), size: $0.count, path, isInbound: true,
            now: Instant(nanoseconds: Int64(number)), memory)
        }
        if number % 9_973 == 0 {
          #expect(memory.used >= last && memory.used <= FlightMemory.mostOfRecorder)
          last = memory.used
        }
      }
      #expect(memory.used == FlightMemory.mostOfRecorder && memory.recorders == 1)
      let found = Self.numbers(Self.recording(ring, at: Instant(nanoseconds: 1_000_000)))
      #expect(found.last == 999_999 && found.count > Self.most - FlightRing.cellsOfBlock)
      #expect(found.count <= Self.most)
      #expect(zip(found, found.dropFirst()).allSatisfy { $1 == $0 + 1 })
    }
    #expect(memory.used == 0 && memory.recorders == 0)
  }

  @Test(arguments: 1...6) func `all recorders together stay within the bound, and the biggest give way`(
    seed: Int
  ) {
    var random = RandomSource.seeded(state: UInt64(seed))
    let memory = FlightMemory(limit: 1_024 * 1_024)
    var rings = OwnedArray<FlightRing>()
    for _ in 0..<40 { rings.append(FlightRing()) }
    var counts = Array(repeating: UInt32(0), count: 40)
    // Two have it for themselves at first.
    for round in 0..<200_000 {
      let index = Int(random.next() % (round < 60_000 ? 2 : 40))
      Self.note(
        &rings.pointer(index).pointee, counts[index], at: Instant(nanoseconds: Int64(round)), payload: 0,
        memory)
      counts[index] += 1
      if memory.used > memory.limit {
        Issue.record("\(memory.used) bytes")
        return
      }
    }
    #expect(memory.recorders == 40 && memory.share == 3)
    for index in 0..<40 {
      let found = Self.numbers(
        Self.recording(rings.pointer(index).pointee, at: Instant(nanoseconds: 200_000)))
      // The newest without a gap, whatever the recorder has been through.
      #expect(!found.isEmpty && found.last == counts[index] - 1)
      #expect(zip(found, found.dropFirst()).allSatisfy { $1 == $0 + 1 })
      #expect(found.count <= memory.share * FlightRing.cellsOfBlock)
    }
  }

  @Test func `where there is no memory for one more it records nothing, and goes on once there is`() {
    let memory = FlightMemory(limit: FlightMemory.blockSize)
    var late = FlightRing()
    do {
      var first = FlightRing()
      Self.note(&first, 1, at: Self.at(1), memory)
      Self.note(&late, 2, at: Self.at(2), memory)
      #expect(Self.recording(late).isEmpty && memory.used == FlightMemory.blockSize && memory.recorders == 2)
    }
    Self.note(&late, 3, at: Self.at(3), memory)
    #expect(Self.numbers(Self.recording(late)) == [3])
  }

  @Test func `RTCP is kept whole up to its bound, also where the oldest block ends in the middle of it`() {
    let memory = FlightMemory(limit: 2 * FlightMemory.blockSize)
    var ring = FlightRing()
    for round in 0..<400 {
      let size = 8 + round * 7 % 600
      let compound = (0..<size).map { UInt8(truncatingIfNeeded: $0 &+ round) }
      compound.withUnsafeBytes {
        ring.note(rtcp: $0, Self.path(1), isInbound: true, now: Instant(nanoseconds: Int64(round)), memory)
      }
      let found = Self.records(Self.recording(ring))
      #expect(found.last?.bytes == Array(compound.prefix(FlightCell.Kind.rtcpIn.most)))
      #expect(found.last.map { Int($0.head.size) } == size)
      // What lost its beginning is no record.
      #expect(found.allSatisfy { $0.head.kind == .rtcpIn && $0.head.size > 0 })
    }
  }

  @Test func `nothing older than a minute is shown, and blocks of before are given back`() {
    let memory = FlightMemory()
    var ring = FlightRing()
    for number in 0..<UInt32(20_000) { Self.note(&ring, number, at: Self.at(Double(number) / 1_000), memory) }
    #expect(memory.used == FlightMemory.mostOfRecorder)
    // Two packets a second from now on, for ten minutes.
    for number in 0..<UInt32(1_200) { Self.note(&ring, number, at: Self.at(20 + Double(number) / 2), memory) }
    #expect(memory.used <= 3 * FlightMemory.blockSize)
    let shown = Self.records(Self.recording(ring, at: Self.at(619.5)))
    #expect(shown.count == 121)
    #expect(shown.allSatisfy { $0.head.at >= Self.at(559.5).nanoseconds })
    #expect(Self.records(Self.recording(ring, at: Self.at(700))).isEmpty)
  }

  @Test func `each packet has the path that it took, and the others are not made up`() {
    let memory = FlightMemory()
    var ring = FlightRing()
    for path in 0..<100 { Self.note(&ring, 0, at: Self.at(1), path: path, memory) }
    let places = Self.records(Self.recording(ring)).map { Int($0.head.path) }
    #expect(places == Array(0..<64) + Array(repeating: Int(FlightPaths.unknown), count: 36))
    #expect(ring.paths.all == (0..<64).map(Self.path))
  }

  @Test(arguments: 1...8) func `no byte of a payload is in it, whatever a packet claims of its header`(
    seed: Int
  ) {
    var random = RandomSource.seeded(state: UInt64(seed))
    let memory = FlightMemory()
    var claimed = 0
    var ring = FlightRing()
    for number in 0..<1_000 {
      // Of one without memory the first packet goes another way than those behind it.
      if number % 10 == 0 { ring = FlightRing() }
      let contributors = Int(random.next() % 16)
      let words = Int(random.next() % 24)
      let hasExtension = random.next() % 2 == 0
      var packet = [UInt8](repeating: 0x11, count: 12 + contributors * 4)
      packet[0] = 0x80 | (hasExtension ? 0x10 : 0) | UInt8(contributors)
      if hasExtension {
        packet += [0xBE, 0xDE, 0, UInt8(words)] + [UInt8](repeating: 0x22, count: words * 4)
      }
      let header = packet.count
      packet += [UInt8](repeating: 0xEE, count: Int(random.next() % 200))
      // More contributors or a longer extension than there are bytes.
      if random.next() % 4 == 0 {
        packet = Array(packet.prefix(12 + Int(random.next() % UInt64(packet.count - 11))))
        for index in packet.indices.dropFirst(header) { packet[index] = 0xEE }
      }
      packet.withUnsafeBytes {
        ring.note(
          rtp: $0, size: $0.count, Self.path(0), isInbound: random.next() % 2 == 0, now: Self.at(1), memory)
      }
      let last = Self.records(Self.recording(ring, at: Self.at(1))).last
      #expect(last.map { $0.bytes.contains(0xEE) } == false)
      let memory = ring.copy().withUnsafeBytes { Array($0) }
      #expect(!zip(memory, memory.dropFirst()).contains { $0 == 0xEE && $1 == 0xEE })
      if packet.count >= header {
        #expect(last?.bytes == Array(packet.prefix(min(header, 64))))
      } else {
        claimed += 1
      }
    }
    #expect(claimed > 20)
  }

  @Test
  func
    `of ICE and the handshake only headers are kept, and a flood under a proven address is bounded`()
  {
    let memory = FlightMemory()
    var ring = FlightRing()
    let check: [UInt8] = [0, 1, 0, 80, 0x21, 0x12, 0xA4, 0x42] + Array(1...12) + Array("user:password".utf8)
    let record: [UInt8] = [22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 1, 0, 90] + Array("certificate".utf8)
    for (datagram, isInbound) in [(check, true), (record, false), ([200, 1, 2], true), ([], true)] {
      datagram.withUnsafeBytes {
        ring.note(setup: $0, Self.path(0), isInbound: isInbound, now: Self.at(1), memory)
      }
    }
    let found = Self.records(Self.recording(ring))
    #expect(found.map(\.head.kind) == [.stunIn, .dtlsOut])
    #expect(found.map(\.bytes) == [Array(check.prefix(20)), Array(record.prefix(13))])
    #expect(found.map { Int($0.head.size) } == [check.count, record.count])
    for _ in 0..<10_000 {
      record.withUnsafeBytes { ring.note(setup: $0, Self.path(0), isInbound: true, now: Self.at(2), memory) }
    }
    #expect(Self.records(Self.recording(ring)).count <= 2 + 64)
  }

  @Test func `every decision reads as it was noted`() {
    let all: [FlightDecision] =
      [
        .connected, .pathSelected, .target(1_234_567.5), .probe(2e6, cluster: 65_535), .probed(1e6),
        .layer(slot: 1_023, encoding: 2, spatial: 255, temporal: 3, rate: 4e5), .paused(slot: 7),
        .resumed(slot: 8), .keyFrameNeeded(slot: 0), .cut(slot: 3), .thinned(slot: 3),
      ] + PeerCloseReason.allCases.map { .closed($0) }
    for decision in all {
      let words = decision.words
      #expect(FlightDecision(low: words.low, high: words.high) == decision)
    }
    #expect(Set(all.map(\.text)).count == all.count)
    #expect(FlightDecision(low: 0, high: 0) == nil && FlightDecision(low: 99, high: 0) == nil)
    #expect(FlightDecision.target(.nan).text == "target 0 kbit/s")
  }

  @Test func `a target is noted where it moved, not each time that it is looked at`() {
    let memory = FlightMemory()
    var ring = FlightRing()
    for step in 0..<100 {
      ring.note(target: 1_000_000 + Double(step), now: Self.at(Double(step) / 100), memory)
    }
    ring.note(target: 500_000, now: Self.at(1), memory)
    #expect(Self.records(Self.recording(ring)).count == 2)
  }
}
