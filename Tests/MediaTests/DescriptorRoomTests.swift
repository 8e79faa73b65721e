import Media
import Model
import Testing
import Wire

/// What becomes of a dependency descriptor that grows by a subscriber's decode targets where its packet has no room for it.
@Suite("Descriptors without room to grow", .timeLimit(.minutes(1)))
struct DescriptorRoomTests {
  /// What a packet may have with its headers, before it is sealed (docs/bounds.md).
  private static let largest = 1_568

  /// The first packet of a key frame in layers of size, with the structure, and a subscriber that is to get the smallest.
  private final class Scene {
    let source: DescribedSource
    let passage = DescribedLayersTests.Passage()
    private let received: DescribedLayersTests.Received

    /// - Parameters:
    ///   - payload: bytes that are added to the packet's.
    ///   - padding: bytes that the descriptor gets at its end.
    init(_ mode: ScalabilityMode, payload: Int, padding: Int = 0, wantsAll: Bool = false) throws {
      var random = RandomSource.seeded(state: 5)
      source = DescribedSource(mode, isEncrypted: false, random: &random)
      var packet = try some(source.next(random: &random).first)
      if padding > 0 { packet.bytes = try Self.padded(packet.bytes, by: padding) }
      packet.bytes += (0..<payload).map { UInt8(truncatingIfNeeded: $0) }
      received = try some(passage.receive(packet, at: 0))
      passage.slot.forwarder.wantLayers(of: 0, spatial: wantsAll ? .max : 0, temporal: .max)
    }

    private static func padded(_ bytes: [UInt8], by count: Int) throws -> [UInt8] {
      let header = try bytes.withUnsafeBytes { try RTPHeader($0) }
      var packet = RTPPacket(
        sequence: header.sequence, timestamp: header.timestamp, payloadType: 96, marker: header.marker)
      packet.payload = Array(bytes[header.headerSize...])
      return packet.bytes(with: [(DescribedSource.id, try element(bytes) + Array(repeating: 0, count: count))]
      )
    }

    private static func element(_ bytes: [UInt8]) throws -> [UInt8] {
      try bytes.withUnsafeBytes { packet in
        var reader = HeaderExtensionReader(packet, try RTPHeader(packet))
        while let element = reader.next() {
          if element.id == DescribedSource.id {
            return Array(packet[element.offset..<element.offset + element.size])
          }
        }
        return []
      }
    }

    /// As its publisher wrote it, but for the number of the frame, which is the stream's.
    func descriptor(like sent: [UInt8]) throws -> [UInt8] {
      let own = try Self.element(received.bytes)
      return Array(own[..<1]) + Array(sent[1..<3]) + Array(own[3...])
    }

    var payload: [UInt8] { Array(received.bytes[Int(received.info.payloadOffset)...]) }

    /// What leaves into so much room; what lies behind that stays untouched.
    func leave(room: Int) throws -> Sent? {
      try write(room) { self.forward($0) }
    }

    private func forward(_ buffer: UnsafeMutableRawBufferPointer) -> OutgoingPacket? {
      received.bytes.withUnsafeBytes {
        passage.slot.forwarder.rewrite($0, received.info, into: buffer, epoch: epoch)
      }
    }

    func leaveAgain(_ sent: Sent, room: Int) throws -> Sent? {
      let request = try some(
        passage.slot.forwarder.retransmission(
          of: sent.header.sequence, now: milliseconds(1_000), roundTrip: .milliseconds(20)))
      return try write(room) { buffer in
        self.received.bytes.withUnsafeBytes {
          self.passage.slot.forwarder.rewriteRetransmission(request, $0, self.received.info, into: buffer)
        }
      }
    }

    private func write(_ room: Int, _ body: (UnsafeMutableRawBufferPointer) -> OutgoingPacket?) throws
      -> Sent?
    {
      passage.slot.room = room + 64
      var isUntouched = true
      let sent = passage.slot.write { buffer in
        for index in buffer.indices { buffer[index] = 0xE7 }
        let outgoing = body(UnsafeMutableRawBufferPointer(rebasing: buffer[..<room]))
        isUntouched = buffer[room...].allSatisfy { $0 == 0xE7 } && outgoing.map { $0.size <= room } ?? true
        return outgoing
      }
      try #require(isUntouched, "nothing is written beyond \(room) bytes")
      return sent
    }
  }

  private static func size(_ sent: Sent) -> Int { sent.header.headerSize + sent.payload.count }

  private static let modes = ScalabilityMode.all.filter { $0.spatial > 1 }
  /// Headers are padded to words: what a descriptor grows by shows where it fills one.
  private static let shapes = modes.flatMap { mode in (0..<4).map { (mode: mode, padding: $0) } }

  /// So many bytes that the packet is as large as one may be, as its publisher wrote it.
  private func filling(_ mode: ScalabilityMode, padding: Int = 0) throws -> Int {
    let plain = try #require(
      try Scene(mode, payload: 0, padding: padding, wantsAll: true).leave(room: 1_600))
    return Self.largest - Self.size(plain)
  }

  @Test func `a descriptor that grows beyond the largest packet leaves as it came, with the payload whole`()
    throws
  {
    var grown = 0
    for (mode, padding) in Self.shapes {
      let payload = try filling(mode, padding: padding)
      let free = try #require(try Scene(mode, payload: payload, padding: padding).leave(room: 1_600))
      let isGrown = Self.size(free) > Self.largest
      let scene = try Scene(mode, payload: payload, padding: padding)
      let sent = try #require(try scene.leave(room: Self.largest), "\(mode)")
      #expect(sent.payload == scene.payload)
      let counters = scene.passage.slot.counters
      #expect(counters.packets == 1 && counters.unwritable == 0)
      #expect(counters.descriptorsUnchanged == (isGrown ? 1 : 0), "\(mode)")
      guard isGrown else { continue }
      grown += 1
      let element = try #require(sent.extensions[DescribedSource.id])
      #expect(Self.size(sent) == Self.largest)
      let own = try scene.descriptor(like: element)
      #expect(element == own, "\(mode): bit for bit")
    }
    #expect(grown >= Self.modes.count, "each mode needs another word with some padding")
  }

  @Test func `in any room it leaves whole, as it came or not at all, and each is counted`() throws {
    for (mode, padding) in Self.shapes {
      let payload = try filling(mode, padding: padding)
      let free = try #require(try Scene(mode, payload: payload, padding: padding).leave(room: 1_600))
      for room in [0, 11, 12, 13, 40, 200] + Array(Self.largest - 9...Self.largest + 9) {
        let scene = try Scene(mode, payload: payload, padding: padding)
        let sent = try scene.leave(room: room)
        let counters = scene.passage.slot.counters
        let fits = room >= Self.largest
        #expect((sent != nil) == fits, "\(mode) in \(room) bytes")
        #expect(counters.unwritable == (fits ? 0 : 1) && counters.packets == (fits ? 1 : 0))
        guard let sent else { continue }
        #expect(sent.payload == scene.payload)
        if room >= Self.size(free) {
          #expect(sent.extensions == free.extensions && counters.descriptorsUnchanged == 0)
        } else {
          #expect(counters.descriptorsUnchanged == 1)
        }
      }
    }
  }

  @Test func `what left as it came is sent again as it came, where there is no more room`() throws {
    var grown = 0
    for (mode, padding) in Self.shapes {
      // A retransmission has two bytes more.
      let payload = try filling(mode, padding: padding) - RTX.sequenceSize
      let scene = try Scene(mode, payload: payload, padding: padding)
      let sent = try #require(try scene.leave(room: Self.largest - RTX.sequenceSize))
      let before = scene.passage.slot.counters.descriptorsUnchanged
      let again = try #require(try scene.leaveAgain(sent, room: Self.largest), "\(mode)")
      #expect(Array(again.payload.dropFirst(RTX.sequenceSize)) == scene.payload)
      #expect(again.original == sent.header.sequence)
      #expect(again.extensions[DescribedSource.id] == sent.extensions[DescribedSource.id])
      let counters = scene.passage.slot.counters
      #expect(counters.retransmitted == 1 && counters.descriptorsUnchanged == 2 * before)
      grown += Int(before)
    }
    #expect(grown >= Self.modes.count)
  }

  @Test func `a descriptor that would be longer than an extension can be leaves as it came, and is counted`()
    throws
  {
    let mode = ScalabilityMode(spatial: 3, temporal: 3)
    let own = try Scene(mode, payload: 100).descriptor(like: [0, 0, 0]).count
    for size in 250...255 {
      let scene = try Scene(mode, payload: 100, padding: size - own)
      let sent = try #require(try scene.leave(room: Self.largest), "\(size) bytes")
      let element = try #require(sent.extensions[DescribedSource.id])
      // Nine targets more.
      let isTooLong = size + 2 > 255
      #expect(element.count == (isTooLong ? size : size + 2))
      #expect(scene.passage.slot.counters.descriptorsUnchanged == (isTooLong ? 1 : 0), "\(size) bytes")
      #expect(sent.payload == scene.payload)
      let unchanged = try scene.descriptor(like: element)
      if isTooLong { #expect(element == unchanged) }
    }
  }

  @Test func `what is too large as it came is dropped and counted`() throws {
    let mode = ScalabilityMode(spatial: 2, temporal: 2)
    let payload = try filling(mode)
    let scene = try Scene(mode, payload: payload + 1)
    let none = try scene.leave(room: Self.largest)
    #expect(none == nil)
    #expect(scene.passage.slot.counters.unwritable == 1 && scene.passage.slot.counters.packets == 0)
  }
}
