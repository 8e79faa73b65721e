import Model
import Testing
import Wire

/// Writes parameter sets bit by bit, as H.264 §7.3 and §9.1 have them.
struct ParameterSetWriter {
  private var bits: [UInt8] = []

  mutating func put(_ value: Int, _ count: Int) {
    bits += (0..<count).reversed().map { UInt8(value >> $0 & 1) }
  }

  mutating func unsigned(_ value: Int) {
    let width = Int.bitWidth - (value + 1).leadingZeroBitCount
    put(0, width - 1)
    put(value + 1, width)
  }

  mutating func signed(_ value: Int) { unsigned(value > 0 ? 2 * value - 1 : -2 * value) }

  /// Without such bytes, as AV1 has it.
  var plain: [UInt8] {
    let whole = bits + Array(repeating: 0, count: -bits.count & 7)
    return stride(from: 0, to: whole.count, by: 8).map { whole[$0..<$0 + 8].reduce(0) { $0 << 1 | $1 } }
  }

  /// With a byte of 3 wherever two zeros stand before what would look like a start code.
  func unit(_ header: [UInt8]) -> [UInt8] {
    let whole = bits + [1] + Array(repeating: 0, count: -(bits.count + 1) & 7)
    var escaped: [UInt8] = []
    for byte in stride(from: 0, to: whole.count, by: 8).map({ whole[$0..<$0 + 8].reduce(0) { $0 << 1 | $1 } })
    {
      if escaped.suffix(2) == [0, 0], byte <= 3 { escaped.append(3) }
      escaped.append(byte)
    }
    return header + escaped
  }
}

@Suite("The size of pictures, from what comes before them", .timeLimit(.minutes(2)))
struct ParameterSetTests {
  private func h264(_ unit: [UInt8]) -> PictureSize? { withBytes(unit) { H264ParameterSet.pictureSize($0) } }

  @Test func `a set of 720 lines, as x264 makes it`() {
    let unit: [UInt8] = [
      0x67, 0x64, 0x00, 0x1F, 0xAC, 0xD9, 0x40, 0x50, 0x05, 0xBB, 0x01, 0x10, 0x00, 0x00, 0x03, 0x00, 0x10,
      0x00,
      0x00, 0x03, 0x03, 0xC0, 0xF1, 0x83, 0x19, 0x60,
    ]
    #expect(h264(unit) == PictureSize(width: 1_280, height: 720))
    for count in 1..<10 { #expect(h264(Array(unit[..<count])) == nil, "\(count) bytes of it") }
  }

  @Test(arguments: 0..<200 as Range<UInt64>) func `every size of every profile`(seed: UInt64) {
    var random = RandomSource.seeded(state: seed)
    func pick(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }
    let profile = [66, 77, 88, 100, 110, 122, 244][pick(7)]
    let (wide, high, isFrames, isCut) = (1 + pick(240), 1 + pick(120), pick(2) == 0, pick(2) == 0)
    var writer = ParameterSetWriter()
    for byte in [profile, pick(256), pick(2) == 0 ? 0 : 31] { writer.put(byte, 8) }
    writer.unsigned(pick(32))
    var chroma = 1
    if profile >= 100 {
      chroma = pick(4)
      writer.unsigned(chroma)
      if chroma == 3 { writer.put(0, 1) }
      writer.unsigned(pick(3))
      writer.unsigned(pick(3))
      writer.put(0, 1)
      let hasLists = pick(2) == 0
      writer.put(hasLists ? 1 : 0, 1)
      for list in 0..<(hasLists ? chroma == 3 ? 12 : 8 : 0) {
        let isThere = pick(2) == 0
        writer.put(isThere ? 1 : 0, 1)
        guard isThere else { continue }
        if pick(3) == 0 {
          // Of the default: the first step leads to 0.
          writer.signed(-8)
        } else {
          for place in 0..<(list < 6 ? 16 : 64) { writer.signed(place % 2 == 0 ? 1 : -1) }
        }
      }
    }
    writer.unsigned(pick(12))
    let order = pick(3)
    writer.unsigned(order)
    if order == 0 { writer.unsigned(pick(12)) }
    if order == 1 {
      writer.put(0, 1)
      writer.signed(-pick(9))
      writer.signed(pick(9))
      let cycle = pick(5)
      writer.unsigned(cycle)
      for _ in 0..<cycle { writer.signed(pick(200_000) - 100_000) }
    }
    writer.unsigned(pick(16))
    writer.put(0, 1)
    writer.unsigned(wide - 1)
    writer.unsigned(high - 1)
    writer.put(isFrames ? 1 : 0, 1)
    if !isFrames { writer.put(0, 1) }
    writer.put(1, 1)
    writer.put(isCut ? 1 : 0, 1)
    let cuts = (0..<4).map { _ in isCut ? pick(4) : 0 }
    if isCut { for cut in cuts { writer.unsigned(cut) } }
    writer.put(0, 1)
    let (across, down) = (chroma == 1 || chroma == 2 ? 2 : 1, (chroma == 1 ? 2 : 1) * (isFrames ? 1 : 2))
    let (width, height) = (
      16 * wide - across * (cuts[0] + cuts[1]), 16 * high * (isFrames ? 1 : 2) - down * (cuts[2] + cuts[3])
    )
    let wanted = width > 0 && height > 0 ? PictureSize(width: UInt16(width), height: UInt16(height)) : nil
    #expect(h264(writer.unit([0x67])) == wanted)
  }

  @Test func `numbers without end, and sizes that no picture has, are none`() {
    #expect(h264([0x67, 66, 0, 30] + Array(repeating: 0, count: 200)) == nil)
    var writer = ParameterSetWriter()
    for byte in [66, 0, 30] { writer.put(byte, 8) }
    for value in [0, 0, 2, 0] { writer.unsigned(value) }
    writer.put(0, 1)
    writer.unsigned(5_000)
    writer.unsigned(1)
    writer.put(0b1100, 4)
    #expect(h264(writer.unit([0x67])) == nil)
  }

  // MARK: - VP9

  @Test func `a scalability structure has the size of each layer`() throws {
    let payload: [UInt8] = [
      0x8A, 0x92, 0x34, 0x58, 0, 160, 0, 90, 1, 64, 0, 180, 2, 128, 1, 104, 1, 0, 0,
    ]
    try withBytes(payload) { payload throws(VP9Error) in
      let descriptor = try VP9Descriptor(payload)
      let scalability = VP9Scalability(payload, descriptor)
      #expect(scalability?.layers == 3 && scalability?.pictures[0] == PictureSize(width: 160, height: 90))
      #expect(scalability?.pictures[2] == PictureSize(width: 640, height: 360))
      #expect(scalability?.pictures[3] == PictureSize())
    }
    try withBytes([0x8A, 0x92, 0x34, 0x20, 1]) { payload throws(VP9Error) in
      let scalability = VP9Scalability(payload, try VP9Descriptor(payload))
      #expect(scalability?.layers == 2 && scalability?.pictures[0] == PictureSize())
    }
    try withBytes([0x88, 0x92, 0x34, 0x20]) { payload throws(VP9Error) in
      #expect(VP9Scalability(payload, try VP9Descriptor(payload)) == nil)
    }
  }

  // MARK: - AV1

  private func av1(_ sequence: [UInt8], header: [UInt8] = [0x18, 0x08]) -> PictureSize? {
    withBytes(header + sequence) { payload in
      (try? AV1Payload(payload)).flatMap { AV1SequenceHeader.pictureSize(payload, $0) }
    }
  }

  /// The fields before the size, then the size.
  private func sequence(_ width: Int, _ height: Int, _ before: (inout ParameterSetWriter) -> Void) -> [UInt8]
  {
    var writer = ParameterSetWriter()
    before(&writer)
    writer.put(15, 4)
    writer.put(11, 4)
    writer.put(width - 1, 16)
    writer.put(height - 1, 12)
    return writer.plain
  }

  @Test func `a sequence header has the largest pictures`() {
    let plain = sequence(1_920, 1_080) {
      $0.put(0, 4)
      $0.put(0, 3)
      $0.put(0, 5)
      $0.put(0, 12)
      $0.put(8, 5)
      $0.put(0, 1)
    }
    #expect(av1(plain) == PictureSize(width: 1_920, height: 1_080))
    // With a length, an extension, or both.
    #expect(av1([0] + plain, header: [0x18, 0x0C]) == PictureSize(width: 1_920, height: 1_080))
    #expect(
      av1([UInt8(plain.count)] + plain, header: [0x18, 0x0A]) == PictureSize(width: 1_920, height: 1_080))
    #expect(av1(plain, header: [0x18, 0x30]) == nil, "of a frame")
    #expect(av1(plain, header: [0x10, 0x08]) == nil, "of no beginning")
    for count in 0..<6 { #expect(av1(Array(plain[..<count])) == nil) }
  }

  @Test func `times, operating points and models are read over`() {
    let full = sequence(640, 360) {
      $0.put(0, 5)
      $0.put(1, 1)
      $0.put(1_001, 32)
      $0.put(60_000, 32)
      $0.put(0b1_00101, 6)
      $0.put(1, 1)
      $0.put(9, 5)
      $0.put(7, 32)
      $0.put(9, 5)
      $0.put(9, 5)
      $0.put(1, 1)
      $0.put(1, 5)
      for tier in [9, 3] {
        $0.put(0x101, 12)
        $0.put(tier, 5)
        if tier > 7 { $0.put(1, 1) }
        $0.put(1, 1)
        $0.put(5, 10)
        $0.put(5, 10)
        $0.put(1, 1)
        $0.put(1, 1)
        $0.put(3, 4)
      }
    }
    #expect(av1(full) == PictureSize(width: 640, height: 360))
    #expect(av1(sequence(320, 180) { $0.put(0b00011_00101, 10) }) != nil)
  }
}
