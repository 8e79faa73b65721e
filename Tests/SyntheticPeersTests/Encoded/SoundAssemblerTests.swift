import Model
import Testing

@testable import SyntheticPeers

@Suite("Sound out of packets", .timeLimit(.minutes(1)))
struct SoundAssemblerTests {
  private func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: Int64(milliseconds) * 1_000_000) }

  /// The frame of that number, which is its only byte; it comes at its time.
  private func plain(_ number: Int, base: UInt32 = 5_000) -> EncodedPayload {
    EncodedPayload(
      stream: 0, codec: .opus, sequence: Int64(number), timestamp: base &+ UInt32(number) &* 960,
      marker: false, bytes: [UInt8(number)], at: at(number * 20))
  }

  /// With copies of those before, the oldest first (RFC 2198 §3).
  private func red(_ number: Int, older: [Int]) -> EncodedPayload {
    var payload = plain(number)
    payload.codec = .red
    payload.bytes = []
    for other in older {
      let word = UInt32(number - other) * 960 << 10 | 1
      payload.bytes += [0x80 | 111, UInt8(word >> 16), UInt8(word >> 8 & 0xFF), UInt8(word & 0xFF)]
    }
    payload.bytes += [111] + older.map { UInt8($0) } + [UInt8(number)]
    return payload
  }

  /// By number; -1: lost.
  private func take(_ payloads: [EncodedPayload], _ assembler: inout SoundAssembler) -> [Int] {
    payloads.flatMap { assembler.take($0, now: $0.at) }.map { piece in
      if case .frame(let bytes) = piece { Int(bytes[0]) } else { -1 }
    }
  }

  @Test(arguments: [5_000, 0xFFFF_F000, 0] as [UInt32])
  func `frames come out as they come in, over any rollover`(
    base: UInt32
  ) {
    var assembler = SoundAssembler()
    #expect(take((0..<40).map { plain($0, base: base) }, &assembler) == Array(0..<40))
  }

  @Test func `two that change places come out in order`() {
    var assembler = SoundAssembler()
    #expect(take([0, 2, 1, 3].map { plain($0) }, &assembler) == [0, 1, 2, 3])
  }

  @Test func `a frame is waited for for 60 ms, and is lost then`() {
    var assembler = SoundAssembler()
    #expect(take([0, 1, 3, 4, 5].map { plain($0) }, &assembler) == [0, 1])
    #expect(take([6].map { plain($0) }, &assembler) == [-1, 3, 4, 5, 6])
    // Too late.
    #expect(take([plain(2)], &assembler).isEmpty)
    #expect(take([plain(7)], &assembler) == [7])
  }

  @Test func `a long silence counts as a second that was lost, and no more`() {
    var assembler = SoundAssembler()
    _ = take([plain(0)], &assembler)
    let pieces = take([200, 201, 202, 203].map { plain($0) }, &assembler)
    #expect(pieces.count { $0 == -1 } == 50 && pieces.suffix(4) == [200, 201, 202, 203])
  }

  @Test func `copies fill in what was lost, and come out once`() {
    var assembler = SoundAssembler()
    #expect(
      take(
        [red(0, older: []), red(1, older: [0]), red(3, older: [1, 2]), red(4, older: [2, 3])], &assembler)
        == [0, 1, 2, 3, 4])
  }

  @Test func `copies of what was before the first are left out`() {
    var assembler = SoundAssembler()
    #expect(take([red(7, older: [5, 6]), red(8, older: [6, 7])], &assembler) == [7, 8])
  }

  @Test func `RED out of form brings nothing, and breaks nothing`() {
    var assembler = SoundAssembler()
    _ = take([plain(0)], &assembler)
    for bytes in [[], [0xEF], [0xEF, 0, 0, 9, 111], [111], [0xEF, 0xFF, 0xFF, 0xFF, 111, 1]] as [[UInt8]] {
      var payload = plain(1)
      (payload.codec, payload.bytes) = (.red, bytes)
      #expect(take([payload], &assembler).isEmpty, "\(bytes)")
    }
    #expect(take([plain(1)], &assembler) == [1])
  }

  @Test func `what waits is bounded`() {
    var assembler = SoundAssembler()
    _ = take([plain(0)], &assembler)
    // All at once, so that none is given up for its age.
    for number in 2..<1_000 {
      var payload = plain(0)
      payload.timestamp = 5_000 &+ UInt32(number) &* 1_920
      _ = assembler.take(payload, now: at(0))
    }
    var next = plain(0)
    next.timestamp = 5_000 &+ 2_000 &* 960
    next.at = at(5_000)
    #expect(assembler.take(next, now: at(5_000)).count <= 200)
  }
}
