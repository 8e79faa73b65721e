import Model
import Testing

@testable import SyntheticPeers

@Suite("Pictures out of packets", .timeLimit(.minutes(1)))
struct PictureAssemblerTests {
  /// Packets of a picture: its number fills them, and its first byte says whether it is a key frame.
  private func packets(_ picture: Int, isKey: Bool = false, from sequence: Int64, count: Int = 3)
    -> [EncodedPayload]
  {
    (0..<count).map { place in
      let first: [UInt8] = place == 0 ? [isKey ? 0x10 : 0x11] : []
      return EncodedPayload(
        stream: 0, codec: .vp8, sequence: sequence + Int64(place), timestamp: UInt32(picture) * 6_000,
        marker: place == count - 1,
        bytes: [0x80 | (place == 0 ? 0x10 : 0), 0x80, 0x80, UInt8(picture)] + first
          + [UInt8(picture), UInt8(place)], at: at(0))
    }
  }

  private func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: Int64(milliseconds) * 1_000_000) }

  private func take(_ packets: [EncodedPayload], _ assembler: inout PictureAssembler, at time: Int = 0)
    -> [UInt8]
  {
    packets.flatMap { assembler.take($0, now: at(time)) }.map { $0.bytes[1] }
  }

  private func asks(_ assembler: inout PictureAssembler, at time: Int) -> Bool {
    assembler.wantsKeyFrame(now: at(time))
  }

  /// Ten pictures of three packets, the first a key frame.
  private var stream: [EncodedPayload] {
    (0..<10).flatMap { packets($0, isKey: $0 == 0, from: 100 + Int64($0) * 3) }
  }

  @Test func `pictures come out whole and in order`() {
    var assembler = PictureAssembler()
    let pictures = stream.flatMap { assembler.take($0, now: at(0)) }
    #expect(pictures.map { $0.bytes[1] } == Array(0..<10))
    #expect(pictures.map(\.isKeyFrame) == [true] + Array(repeating: false, count: 9))
    #expect(pictures[3].bytes == [0x11, 3, 0, 3, 1, 3, 2] && pictures[3].timestamp == 18_000)
  }

  @Test func `whatever the order of packets is, pictures are the same`() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<50 {
      var assembler = PictureAssembler()
      // The very first one stays, so that the stream begins with it.
      let shuffled = Array(stream[..<3]) + stream[3...].shuffled(using: &random)
      #expect(take(shuffled, &assembler) == Array(0..<10))
      #expect(assembler.breaks == 0)
    }
  }

  @Test func `nothing comes out before a key frame, and it is asked for, twice a second`() {
    var assembler = PictureAssembler()
    let before = asks(&assembler, at: 0)
    #expect(!before)
    #expect(take(Array(stream[3...]), &assembler).isEmpty)
    let asked = (0...12).filter { asks(&assembler, at: $0 * 100) }
    #expect(asked == [0, 5, 10])
    #expect(take(packets(10, isKey: true, from: 130) + packets(11, from: 133), &assembler) == [10, 11])
    let later = asks(&assembler, at: 5_000)
    #expect(!later)
  }

  @Test func `a key frame without its end, or its beginning, is none`() {
    var assembler = PictureAssembler()
    let key = packets(0, isKey: true, from: 100)
    #expect(take(Array(key[1...]) + packets(1, from: 103), &assembler).isEmpty)
    #expect(take(Array(packets(2, isKey: true, from: 106)[..<2]), &assembler).isEmpty)
    #expect(take([packets(2, isKey: true, from: 106)[2]], &assembler) == [2])
  }

  @Test func `a packet that comes again after a while mends the stream`() {
    var assembler = PictureAssembler()
    var late = stream
    let missing = late.remove(at: 10)
    #expect(take(late, &assembler) == [0, 1, 2])
    let early = asks(&assembler, at: 900)
    #expect(!early)
    #expect(take([missing], &assembler, at: 950) == [3, 4, 5, 6, 7, 8, 9])
    let later = asks(&assembler, at: 5_000)
    #expect(!later && assembler.breaks == 0)
  }

  @Test func `what is missing for too long is given up, and a key frame goes on`() {
    var assembler = PictureAssembler()
    var lossy = stream
    lossy.remove(at: 10)
    #expect(take(lossy, &assembler) == [0, 1, 2])
    let asked = [999, 1_000].map { asks(&assembler, at: $0) }
    #expect(asked == [false, true])
    #expect(assembler.breaks == 1)
    // Even if it comes now, what follows has been given up.
    #expect(take([stream[10]], &assembler, at: 1_001).isEmpty)
    #expect(take(packets(10, from: 130) + packets(11, isKey: true, from: 133), &assembler, at: 1_100) == [11])
    #expect(take(packets(12, from: 136), &assembler, at: 1_100) == [12])
  }

  @Test func `a key frame that waits behind a gap is taken at once when the gap is given up`() {
    var assembler = PictureAssembler()
    _ = take(packets(0, isKey: true, from: 100), &assembler)
    #expect(take(packets(2, isKey: true, from: 106) + packets(3, from: 109), &assembler).isEmpty)
    _ = asks(&assembler, at: 1_000)
    #expect(take(packets(4, from: 112), &assembler, at: 1_010) == [2, 3, 4])
  }

  @Test func `copies and packets from before are left out`() {
    var assembler = PictureAssembler()
    let twice = stream.flatMap { [$0, $0] }
    #expect(take(twice, &assembler) == Array(0..<10))
    #expect(take(stream, &assembler).isEmpty)
  }

  @Test func `a picture out of form never comes out`() {
    // Another timestamp in the middle, a second beginning, no end.
    var moved = packets(1, from: 103)
    moved[1].timestamp += 1
    var begun = packets(1, from: 103)
    begun[1].bytes[0] |= 0x10
    var endless = packets(1, from: 103)
    endless[2].marker = false
    var headless = packets(1, from: 103)
    headless[0].bytes[0] &= 0xEF
    for broken in [moved, begun, endless, headless] {
      var assembler = PictureAssembler()
      let good = packets(0, isKey: true, from: 100)
      #expect(take(good + broken + packets(2, from: 106), &assembler) == [0])
      _ = asks(&assembler, at: 2_000)
      #expect(take(packets(3, isKey: true, from: 109), &assembler, at: 2_000) == [3])
    }
  }

  @Test func `payloads without a descriptor are left out`() {
    var assembler = PictureAssembler()
    for bytes in [[], [0x80], [0x90, 0x80], [0x90, 0x80, 0x80]] as [[UInt8]] {
      let payload = EncodedPayload(
        stream: 0, codec: .vp8, sequence: 5, timestamp: 0, marker: true, bytes: bytes, at: at(0))
      #expect(assembler.take(payload, now: at(0)).isEmpty)
    }
    #expect(take(stream, &assembler) == Array(0..<10))
  }

  @Test func `what waits is bounded, and a stream goes on behind it`() {
    var assembler = PictureAssembler()
    _ = take(packets(0, isKey: true, from: 100), &assembler)
    for sequence in 0..<Int64(3 * PictureAssembler.packetLimit) {
      let far = EncodedPayload(
        stream: 0, codec: .vp8, sequence: 200 + sequence, timestamp: 9, marker: false,
        bytes: [0x80, 0x80, 0x80, 1, 7], at: at(0))
      #expect(assembler.take(far, now: at(0)).isEmpty)
    }
    #expect(take(packets(5, isKey: true, from: 20_000), &assembler) == [5])
    #expect(assembler.breaks == 1)
  }

  @Test func `what can't be decoded starts it over`() {
    var assembler = PictureAssembler()
    _ = take(packets(0, isKey: true, from: 100), &assembler)
    assembler.startOver()
    #expect(take(packets(1, from: 103), &assembler).isEmpty)
    let asked = asks(&assembler, at: 0)
    #expect(asked)
    #expect(take(packets(2, isKey: true, from: 106), &assembler) == [2])
  }
}
