import Model
import Testing
import Wire

@Suite("The sequence parameter set of H.265, §7.3.2.2.1", .timeLimit(.minutes(2)))
struct H265ParameterSetTests {
  private func read(_ content: [UInt8]) -> H265ParameterSet? { withBytes(content) { H265ParameterSet($0) } }

  /// One of 640 × 360 in two sub-layers.
  private let known: [UInt8] = [
    0x03, 0x01, 0x60, 0x00, 0x00, 0x03, 0x00, 0x90, 0x00, 0x00, 0x03, 0x00, 0x00, 0x03, 0x00, 0x5D, 0x00,
    0x00,
    0xA0, 0x05, 0x02, 0x01, 0x69, 0x65, 0x15, 0x9A,
  ]

  @Test func `a set of two sub-layers`() {
    let set = read(known)
    #expect(set?.picture == PictureSize(width: 640, height: 360))
    #expect(set?.topSubLayer == 1 && set?.areNested == true)
    for count in 0..<22 { #expect(read(Array(known[..<count])) == nil, "\(count) bytes of it") }
  }

  @Test(arguments: 0..<300 as Range<UInt64>) func `every size, window and profile`(seed: UInt64) {
    var random = RandomSource.seeded(state: seed)
    func pick(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }
    let (wide, high, top, chroma) = (1 + pick(8_192), 1 + pick(4_320), pick(7), pick(4))
    let (isNested, isCut) = (pick(2), pick(2) == 0)
    var writer = ParameterSetWriter()
    writer.put(pick(16), 4)
    writer.put(top, 3)
    writer.put(isNested, 1)
    writer.put(pick(256), 8)
    for _ in 0..<10 { writer.put(pick(3) == 0 ? pick(256) : 0, 8) }
    writer.put(93, 8)
    let own = (0..<top).map { _ in (pick(2), pick(2)) }
    for (profile, level) in own {
      writer.put(profile, 1)
      writer.put(level, 1)
    }
    if top > 0 { writer.put(0, 2 * (8 - top)) }
    for (profile, level) in own {
      for _ in 0..<11 * profile { writer.put(pick(256), 8) }
      for _ in 0..<level { writer.put(90, 8) }
    }
    writer.unsigned(pick(16))
    writer.unsigned(chroma)
    if chroma == 3 { writer.put(pick(2), 1) }
    writer.unsigned(wide)
    writer.unsigned(high)
    writer.put(isCut ? 1 : 0, 1)
    let cuts = (0..<4).map { _ in isCut ? pick(9) : 0 }
    if isCut { for cut in cuts { writer.unsigned(cut) } }
    writer.put(0b11, 2)
    let (across, down) = (chroma == 1 || chroma == 2 ? 2 : 1, chroma == 1 ? 2 : 1)
    let (width, height) = (wide - across * (cuts[0] + cuts[1]), high - down * (cuts[2] + cuts[3]))
    let wanted = width > 0 && height > 0 ? PictureSize(width: UInt16(width), height: UInt16(height)) : nil
    let content = writer.unit([])
    let set = read(content)
    #expect(set?.picture == wanted)
    if let set { #expect(Int(set.topSubLayer) == top && set.areNested == (isNested == 1)) }
    for _ in 0..<20 {
      let cut = read(Array(content[..<pick(content.count + 1)]))
      #expect(cut == nil || cut == set, "what is cut says the same or nothing")
    }
  }

  @Test func `numbers without end, a seventh sub-layer and unknown colours are none`() {
    #expect(read(Array(repeating: 0, count: 300)) == nil)
    #expect(read([0x0F] + known.dropFirst()) == nil)
    for (chroma, size, isThere) in [(1, 640, true), (4, 640, false), (1, 70_000, false), (1, 0, false)] {
      var writer = ParameterSetWriter()
      writer.put(1, 8)
      for _ in 0..<12 { writer.put(0x61, 8) }
      for value in [0, chroma, size, 360] { writer.unsigned(value) }
      writer.put(0, 1)
      #expect((read(writer.unit([])) != nil) == isThere, "\(chroma) \(size)")
    }
  }
}
