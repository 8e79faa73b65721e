import Testing

@testable import Codecs

@Suite("VP8 by libvpx", .timeLimit(.minutes(1)))
struct VP8Tests {
  private static let (width, height) = (160, 96)

  /// A slope that moves with the number.
  private func picture(_ number: Int) throws -> Picture {
    var picture = try Picture(width: Self.width, height: Self.height)
    for y in 0..<Self.height {
      for x in 0..<Self.width { picture.samples[y * Self.width + x] = UInt8(50 + (x + y + 2 * number) % 150) }
    }
    return picture
  }

  private func encoder() throws -> VP8Encoder {
    try VP8Encoder(width: Self.width, height: Self.height, bitrate: 400_000, framesPerSecond: 15)
  }

  private func difference(_ one: Picture, _ other: Picture) -> Int {
    zip(one.samples, other.samples).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) } / one.samples.count
  }

  @Test func `a picture comes out much as it went in`() throws {
    let encoder = try encoder()
    let decoder = try VP8Decoder()
    for number in 0..<30 {
      let original = try picture(number)
      let frame = try encoder.encode(original, isKeyFrame: false)
      let decoded = try #require(try decoder.decode(frame.bytes))
      #expect(decoded.width == Self.width && decoded.height == Self.height)
      #expect(difference(original, decoded) < 8, "picture \(number)")
    }
  }

  @Test func `the first picture is a key frame, and those that are asked for, and no other`() throws {
    let encoder = try encoder()
    let keys = try (0..<40).map { number in
      let frame = try encoder.encode(try picture(number), isKeyFrame: number == 13)
      #expect(frame.isKeyFrame == (frame.bytes[0] & 1 == 0))
      return frame.isKeyFrame
    }
    #expect(keys.indices.filter { keys[$0] } == [0, 13])
  }

  @Test func `no picture is left out, however little the rate is`() throws {
    let encoder = try VP8Encoder(
      width: Self.width, height: Self.height, bitrate: 10_000, framesPerSecond: 15)
    for number in 0..<60 {
      #expect(try !encoder.encode(try picture(number), isKeyFrame: false).bytes.isEmpty)
    }
  }

  @Test(arguments: [(0, 96), (15, 96), (161, 96), (160, 95), (4_098, 96), (-2, 96), (Int.max, Int.max)])
  func `sides that can't be are refused`(width: Int, height: Int) {
    #expect(throws: CodecError.size(width: width, height: height)) {
      try Picture(width: width, height: height)
    }
    #expect(throws: CodecError.size(width: width, height: height)) {
      try VP8Encoder(width: width, height: height, bitrate: 100_000, framesPerSecond: 15)
    }
  }

  @Test(arguments: [(0, 15), (9_999, 15), (Int.max, 15), (100_000, 0), (100_000, 61)])
  func `rates that can't be are refused`(bitrate: Int, framesPerSecond: Int) {
    #expect(throws: CodecError.self) {
      try VP8Encoder(width: 160, height: 96, bitrate: bitrate, framesPerSecond: framesPerSecond)
    }
  }

  @Test func `a picture of another size is not encoded`() throws {
    let encoder = try encoder()
    #expect(throws: CodecError.size(width: 320, height: 96)) {
      try encoder.encode(try Picture(width: 320, height: 96), isKeyFrame: false)
    }
    #expect(try encoder.encode(try picture(0), isKeyFrame: false).isKeyFrame)
  }

  // MARK: What doesn't come from an encoder

  @Test func `before the first key frame nothing is decoded, and after it everything`() throws {
    let encoder = try encoder()
    let decoder = try VP8Decoder()
    let frames = try (0..<4).map { try encoder.encode(try picture($0), isKeyFrame: $0 == 2).bytes }
    #expect(throws: CodecError.self) { try decoder.decode(frames[1]) }
    #expect(try decoder.decode(frames[2]) != nil)
    #expect(try decoder.decode(frames[3]) != nil)
  }

  @Test func `a picture that says it is huge is refused before memory is taken for it`() throws {
    var bytes = try encoder().encode(try picture(0), isKeyFrame: true).bytes
    bytes.replaceSubrange(6..<10, with: [0xFF, 0x3F, 0xFF, 0x3F])
    #expect(throws: CodecError.tooLarge(width: 16_383, height: 16_383)) { try VP8Decoder().decode(bytes) }
    bytes.replaceSubrange(6..<10, with: [0x42, 0x01, 0x60, 0])
    #expect(throws: CodecError.tooLarge(width: 322, height: 96)) {
      try VP8Decoder(longestSide: 320).decode(bytes)
    }
  }

  @Test func `what is empty, or larger than any picture, is refused`() throws {
    let decoder = try VP8Decoder()
    #expect(throws: CodecError.self) { try decoder.decode([]) }
    #expect(throws: CodecError.self) {
      try decoder.decode([UInt8](repeating: 0, count: VP8Decoder.byteLimit + 1))
    }
  }

  @Test func `bytes of any kind are an error or a picture, and a key frame mends the decoder`() throws {
    var random = SystemRandomNumberGenerator()
    let encoder = try encoder()
    let key = try encoder.encode(try picture(0), isKeyFrame: true).bytes
    let next = try encoder.encode(try picture(1), isKeyFrame: false).bytes
    let decoder = try VP8Decoder(longestSide: 320)
    for round in 0..<600 {
      var bytes = round % 2 == 0 ? key : next
      switch round % 3 {
      case 0: bytes = Array(bytes[..<Int.random(in: 0...bytes.count, using: &random)])
      case 1:
        for _ in 0..<4 { bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= UInt8.random(in: 1...255) }
      default: bytes = (0..<Int.random(in: 1...400)).map { _ in UInt8.random(in: 0...255, using: &random) }
      }
      _ = try? decoder.decode(bytes)
    }
    let mended = try #require(try decoder.decode(key))
    #expect(difference(mended, try picture(0)) < 8)
  }
}
