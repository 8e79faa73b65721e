import Model
import Testing
import Wire

@testable import Media

/// Sound that is sent again with the packets behind it, for those who lose packets.
@Suite("Redundancy, RFC 2198", .timeLimit(.minutes(1)))
struct RedundancyTests {
  /// A slot's redundancy, and a packet's way through it.
  private final class Stream {
    private var redundancy = Redundancy()
    private(set) var now = Instant(nanoseconds: 1_000_000_000)
    var index: UInt64 = 65_530

    init(red: String? = "109/109", opus: UInt8 = 109) {
      var codecs = [NegotiatedCodec(codec: .opus, payloadType: opus)]
      if let red { codecs.append(NegotiatedCodec(codec: .red, payloadType: 63, formatParameters: red)) }
      redundancy.apply(
        SendSection(
          index: 0, mid: "a", kind: .audio, codecs: codecs, extensions: HeaderExtensionMap(), ssrc: 1,
          rtxSSRC: nil, cname: "c", streamID: "s"))
    }

    var isOn: Bool { redundancy.isOn }
    var loss: Double { redundancy.loss(now: now) }

    func wait(_ span: Duration) { now = now + span }

    /// A report each second.
    func report(_ share: Double, target: Double? = nil, times: Int = 1) {
      for _ in 0..<times {
        now = now + .seconds(1)
        redundancy.report(share, target: target, now: now)
      }
    }

    /// The packet with that payload, as it leaves: its payload type and payload.
    func send(
      _ payload: [UInt8], timestamp: UInt32? = nil, type: UInt8 = 109, isEncrypted: Bool = false,
      room: Int = 1_500
    ) -> (type: UInt8, payload: [UInt8]) {
      index += 1
      var packet = RTPPacket(
        sequence: UInt16(truncatingIfNeeded: index),
        timestamp: timestamp ?? UInt32(truncatingIfNeeded: index) &* 960, payloadType: type, marker: false)
      packet.payload = payload
      let bytes = packet.bytes
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(room, bytes.count), alignment: 8)
      defer { buffer.deallocate() }
      buffer.copyBytes(from: bytes)
      let plain = OutgoingPacket(
        ssrc: 1, index: index, headerSize: bytes.count - payload.count, size: bytes.count, numberOffset: 0)
      let sent = redundancy.wrap(
        plain, isEncrypted: isEncrypted,
        in: UnsafeMutableRawBufferPointer(rebasing: buffer[..<max(room, bytes.count)]))
      return (buffer[1] & 0x7F, Array(buffer[sent.headerSize..<sent.size]))
    }
  }

  /// The blocks of a payload as a receiver takes them apart: how far back, and what.
  private func blocks(_ payload: [UInt8]) throws -> [(back: Int, bytes: [UInt8])] {
    var headers: [(back: Int, size: Int)] = []
    var offset = 0
    while payload[offset] & 0x80 != 0 {
      let back = Int(payload[offset + 1]) << 6 | Int(payload[offset + 2]) >> 2
      headers.append((back, Int(payload[offset + 2] & 3) << 8 | Int(payload[offset + 3])))
      #expect(payload[offset] & 0x7F == 109)
      offset += 4
    }
    #expect(payload[offset] == 109)
    offset += 1
    var found: [(back: Int, bytes: [UInt8])] = []
    for header in headers {
      found.append((header.back, Array(payload[offset..<offset + header.size])))
      offset += header.size
    }
    return found + [(0, Array(payload[offset...]))]
  }

  @Test func `the two packets before it go along, each with its distance`() throws {
    let stream = Stream()
    stream.report(0.1)
    #expect(stream.isOn)
    let payloads = (0..<9).map { [UInt8](repeating: UInt8($0), count: 20 + 150 * $0 % 400) }
    for number in payloads.indices {
      let sent = stream.send(payloads[number])
      #expect(sent.type == 63)
      let found = try blocks(sent.payload)
      let expected = max(0, number - 2)...number
      #expect(found.map(\.bytes) == expected.map { payloads[$0] })
      #expect(found.map(\.back) == expected.map { (number - $0) * 960 })
    }
  }

  @Test func `losses count as long as they are reported, and for five seconds more`() {
    let stream = Stream()
    stream.report(1, times: 3)
    #expect(stream.loss > 0.6)
    stream.wait(.seconds(4))
    #expect(stream.loss > 0.6)
    stream.wait(.seconds(2))
    #expect(stream.loss == 0, "its publisher protects the sound no longer for one who says nothing")
    stream.report(1)
    #expect(stream.loss > 0.7, "what it said before is still a part of it")
  }

  /// What of the sound is missing where packets are lost, in percent.
  private struct Missed: CustomStringConvertible {
    /// With what the server adds.
    var withRED = 0.0
    /// Without, where no other packet says it.
    var without = 0.0
    /// Of these, those behind which the next packet came: Opus may have something of them in that (RFC 6716 §2.1.7).
    var withSuccessor = 0.0

    var description: String {
      "\(withRED) % missing with RED; \(without) % without, of these \(withSuccessor) % with a successor that came"
    }
  }

  private func missed(of count: Int, _ isLost: (_ last: Bool) -> Bool) throws -> Missed {
    let stream = Stream()
    stream.report(0.1)
    var heard: Set<UInt32> = []
    var lost: [Bool] = []
    for number in 0..<UInt32(count) {
      let sent = stream.send(
        withUnsafeBytes(of: number.bigEndian) { Array($0) }, timestamp: number &* 960)
      lost.append(isLost(lost.last ?? false))
      if lost.last == true { continue }
      for block in try blocks(sent.payload) {
        heard.insert(block.bytes.reduce(0) { $0 << 8 | UInt32($1) })
      }
    }
    let gone = lost.indices.filter { lost[$0] }
    let repairable = gone.count { $0 + 1 < lost.count && !lost[$0 + 1] }
    let percent = { (part: Int) in 100 * Double(part) / Double(count) }
    return Missed(
      withRED: percent(count - heard.count), without: percent(gone.count),
      withSuccessor: 100 * Double(repairable) / Double(max(gone.count, 1)))
  }

  @Test func `what is lost at random is missed only where three in a row are`() throws {
    var random = RandomSource.seeded(state: 11)
    let missed = try missed(of: 20_000) { _ in random.next() % 100 < 10 }
    print("figure: sound, 10 % lost at random: \(missed)")
    #expect(missed.withRED <= 0.5)
    #expect(missed.without > 9 && missed.withSuccessor > 85)
  }

  @Test func `of losses in bursts it repairs those of up to two packets`() throws {
    var random = RandomSource.seeded(state: 12)
    // Two packets in a row on average, a tenth of all.
    let missed = try missed(of: 20_000) { last in random.next() % 1_000 < (last ? 500 : 56) }
    print("figure: sound, 10 % lost in bursts of two: \(missed)")
    #expect(missed.withRED < missed.without / 2)
  }

  @Test func `it begins where packets are lost, and ends where none are for ten seconds`() {
    let stream = Stream()
    #expect(stream.send([1]).type == 109)
    stream.report(0.01, times: 30)
    #expect(!stream.isOn, "one in a hundred is concealed well enough")
    stream.report(0.08, times: 2)
    #expect(stream.isOn)
    stream.report(0, times: 10)
    #expect(stream.isOn)
    stream.report(0, times: 25)
    #expect(!stream.isOn && stream.send([1]).type == 109)
  }

  @Test func `a path with little room keeps it for the picture`() {
    let stream = Stream()
    stream.report(0.2, target: 100_000, times: 5)
    #expect(!stream.isOn)
    stream.report(0.2, target: 500_000)
    #expect(stream.isOn)
    stream.report(0.2, target: 100_000)
    #expect(!stream.isOn)
  }

  @Test(arguments: [nil, "96/96", "109/96", "", "109/x"] as [String?])
  func `a subscriber without RED around its Opus gets none`(parameters: String?) {
    let stream = Stream(red: parameters)
    stream.report(0.3, times: 5)
    #expect(!stream.isOn && stream.send([1, 2]).payload == [1, 2])
  }

  @Test func `nothing is added to frames that are encrypted end to end, nor to other codecs`() throws {
    let stream = Stream()
    stream.report(0.3)
    _ = stream.send([1])
    #expect(stream.send([2], isEncrypted: true).payload == [2])
    #expect(stream.send([3], type: 63).payload == [3], "the publisher's own RED")
    #expect(try blocks(stream.send([4]).payload).map(\.bytes) == [[4]], "what it didn't keep isn't repeated")
  }

  @Test func `behind a gap, a pause or a long packet only what can be said goes along`() throws {
    let stream = Stream()
    stream.report(0.3)
    func sent(_ byte: UInt8, count: Int = 10, at timestamp: UInt32) throws -> [UInt8] {
      try blocks(stream.send([UInt8](repeating: byte, count: count), timestamp: timestamp).payload)
        .map { $0.bytes[0] }
    }
    #expect(try sent(1, at: 960) == [1])
    #expect(try sent(2, at: 1_920) == [1, 2])
    stream.index += 1
    #expect(try sent(3, at: 3_840) == [3], "one before it never left")
    #expect(try sent(4, at: 20_224) == [4], "too far back for its header")
    #expect(try sent(5, at: 20_224) == [5], "no time has passed")
    #expect(try sent(6, count: 1_024, at: 21_184) == [4, 5, 6])
    #expect(try sent(7, at: 22_144) == [7], "too long for its header")
    #expect(try sent(8, count: 700, at: 23_104) == [7, 8])
    #expect(try sent(9, count: 700, at: 24_064) == [9], "a path may not take so much")
  }

  @Test func `where there is no room the packet goes as it is`() {
    let stream = Stream()
    stream.report(0.3)
    _ = stream.send([1])
    #expect(stream.send([UInt8](repeating: 2, count: 50), room: 62).payload.count == 50)
  }
}
