import CCounters
import CFloor
import Crypto
import Engine
import Glibc
import Model
import Peer
import Transport

/// Forwards one publisher's datagrams to its subscribers, by turns through a worker's core and through the plain
/// C loop, both into memory.
///
/// A batch is as large as one read of the socket, its datagrams lie in the same slots each time, as received
/// ones do, and what was written is dropped after it.
struct ForwardBench: ~Copyable {
  static let batch = 64
  private static let slotSize = 2_048
  /// Batches between two turns of the timers; arrival feedback holds twice as many packets.
  private static let batchesPerTurn = 8

  private let subscribers: Int
  private let size: Int
  private var conference: Conference
  private let slots: UnsafeMutableRawPointer

  init(subscribers: Int, size: Int) throws(BenchError) {
    self.subscribers = subscribers
    self.size = size
    conference = try Conference(subscribers: subscribers)
    slots = .allocate(byteCount: Self.batch * Self.slotSize, alignment: 64)
  }

  deinit { slots.deallocate() }

  mutating func run(packets count: Int) throws(BenchError) -> ForwardResult {
    try conference.connect()
    guard let keys = conference.publisher.association?.localKeys else { throw .setup("no keys") }
    let batches = (count + Self.batch - 1) / Self.batch
    // The first packet sets the numbers, the next batch is compared, the last four are counted.
    let packets = try SealedPackets(1 + (batches + 5) * Self.batch, size: size, keys: keys)
    let floor = try begin(packets, keys: keys)
    defer { floor_destroy(floor) }
    var next = 1
    try compare(packets, from: next, floor)
    next += Self.batch

    var result = ForwardResult(subscribers: subscribers, size: size)
    let before = conference.departed.pointee
    for number in 0..<batches {
      if number % Self.batchesPerTurn == 0 {
        conference.turn(after: SealedPackets.spacing * (Self.batch * Self.batchesPerTurn))
      }
      // Who comes second finds warmer caches: each in turn.
      if number % 2 == 0 { result.roost.append(time(packets, from: next)) }
      result.floor.append(try time(packets, from: next, floor))
      if number % 2 == 1 { result.roost.append(time(packets, from: next)) }
      next += Self.batch
    }

    conference.turn(after: SealedPackets.spacing * (Self.batch * Self.batchesPerTurn))
    for _ in 0..<4 {
      load(packets, from: next)
      bench_counting_start()
      forward(packets.size)
      result.roostCounts.add(bench_counting_stop())
      load(packets, from: next)
      bench_counting_start()
      try forward(packets.size, floor)
      result.floorCounts.add(bench_counting_stop())
      next += Self.batch
      result.countedPackets += Self.batch
    }
    // What waits for its turn, or is withheld, costs little and shows nothing.
    let due = (batches + 4) * Self.batch * subscribers
    let departed = conference.departed.pointee - before
    guard departed == due else { throw .setup("\(departed) of \(due) packets left") }
    return result
  }

  // MARK: - The two loops

  private func load(_ packets: borrowing SealedPackets, from first: Int) {
    for index in 0..<Self.batch {
      let datagram = packets[first + index]
      (slots + index * Self.slotSize).copyMemory(from: datagram.baseAddress!, byteCount: datagram.count)
    }
  }

  private mutating func time(_ packets: borrowing SealedPackets, from first: Int) -> Double {
    load(packets, from: first)
    let start = Self.clock()
    forward(packets.size)
    return Double(Self.clock() - start) / Double(Self.batch)
  }

  private func time(
    _ packets: borrowing SealedPackets, from first: Int, _ floor: OpaquePointer
  ) throws(BenchError) -> Double {
    load(packets, from: first)
    let start = Self.clock()
    try forward(packets.size, floor)
    return Double(Self.clock() - start) / Double(Self.batch)
  }

  @inline(never)
  private mutating func forward(_ size: Int) {
    let path = conference.publisher.path
    let now = conference.now
    for index in 0..<Self.batch {
      conference.core.receive(
        UnsafeMutableRawBufferPointer(start: slots + index * Self.slotSize, count: size), path: path,
        arrival: now, now: now)
    }
    let departed = conference.departed
    conference.core.finishTurn(now: now) {
      departed.pointee &+= $0.count
      $0.removeAll()
    }
  }

  @inline(never)
  private func forward(_ size: Int, _ floor: OpaquePointer) throws(BenchError) {
    for index in 0..<Self.batch {
      let datagram = (slots + index * Self.slotSize).assumingMemoryBound(to: UInt8.self)
      guard floor_forward(floor, datagram, size) == 0 else { throw .setup("the C loop failed") }
    }
    floor_flush(floor)
  }

  private static func clock() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  // MARK: - Same work

  /// Forwards the key frame's first packet and makes the C loop's subscribers from what came out.
  private mutating func begin(
    _ packets: borrowing SealedPackets, keys: SRTPKeys
  ) throws(BenchError) -> OpaquePointer {
    _ = conference.takeOutbox()
    conference.receive(packets[0], into: slots)
    let sent = conference.takeOutbox()
    guard sent.count == subscribers else { throw .setup("\(sent.count) of \(subscribers) got a packet") }
    var known: [floor_subscriber] = []
    for (subscriber, datagram) in zip(conference.subscribers, sent) {
      guard datagram.path == subscriber.path, let keys = subscriber.association?.remoteKeys else {
        throw .setup("a packet went to \(datagram.path.remote)")
      }
      known.append(floor_subscriber(firstPacket: datagram.bytes, keys: keys))
    }
    guard
      let floor = floor_create(
        keys.masterKey + keys.masterSalt, SealedPackets.firstSequence, known, known.count,
        Conference.outboxSize)
    else { throw .setup("no C loop") }
    // libsrtp's window begins with the stream.
    slots.copyMemory(from: packets[0].baseAddress!, byteCount: packets.size)
    guard floor_forward(floor, slots.assumingMemoryBound(to: UInt8.self), packets.size) == 0 else {
      throw .setup("the C loop does not open the first packet")
    }
    floor_flush(floor)
    return floor
  }

  /// One batch through both: the datagrams are to be the same, byte by byte.
  private mutating func compare(
    _ packets: borrowing SealedPackets, from first: Int, _ floor: OpaquePointer
  ) throws(BenchError) {
    for number in first..<first + Self.batch {
      conference.receive(packets[number], into: slots)
      let sent = conference.takeOutbox()
      slots.copyMemory(from: packets[number].baseAddress!, byteCount: packets.size)
      guard floor_forward(floor, slots.assumingMemoryBound(to: UInt8.self), packets.size) == 0,
        floor_count(floor) == sent.count, sent.count == subscribers
      else { throw .outputDiffers(packet: number) }
      for (index, datagram) in sent.enumerated() {
        var size = 0
        let bytes = floor_datagram(floor, index, &size)
        guard datagram.bytes.elementsEqual(UnsafeBufferPointer(start: bytes, count: size)) else {
          throw .outputDiffers(packet: number)
        }
      }
      floor_flush(floor)
    }
  }
}

extension Conference {
  /// A datagram of the publisher's, by way of `slot`.
  mutating func receive(_ datagram: UnsafeRawBufferPointer, into slot: UnsafeMutableRawPointer) {
    slot.copyMemory(from: datagram.baseAddress!, byteCount: datagram.count)
    core.receive(
      UnsafeMutableRawBufferPointer(start: slot, count: datagram.count), path: publisher.path, arrival: now,
      now: now)
  }
}

extension floor_subscriber {
  /// A subscriber as its first datagram shows it: header and extensions travel in clear.
  init(firstPacket packet: [UInt8], keys: SRTPKeys) {
    self.init()
    withUnsafeMutableBytes(of: &key) { $0.copyBytes(from: keys.masterKey) }
    withUnsafeMutableBytes(of: &salt) { $0.copyBytes(from: keys.masterSalt) }
    packet.withUnsafeBytes { bytes in
      payload_type = bytes[1] & 0x7F
      first_sequence = UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
      // The publisher's first timestamp is 0.
      timestamp_offset = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
      ssrc = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
      guard bytes[0] & 0x10 != 0 else { return }
      extension_size = 4 + 4 * Int(bytes[15])
      withUnsafeMutableBytes(of: &`extension`) { $0.copyBytes(from: bytes[12..<12 + extension_size]) }
    }
  }
}
