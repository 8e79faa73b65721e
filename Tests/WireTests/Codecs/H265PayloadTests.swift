import Model
import Testing
import Wire

@Suite("H.265 payloads, RFC 7798 §4.4", .timeLimit(.minutes(2)))
struct H265PayloadTests {
  func parse(_ bytes: [UInt8]) throws(H265Error) -> H265Payload {
    try withBytes(bytes) { payload throws(H265Error) in try H265Payload(payload) }
  }

  /// A unit's header.
  func header(_ type: UInt8, temporal: UInt8 = 0, layer: UInt8 = 0) -> [UInt8] {
    [type << 1 | layer >> 5, layer << 3 | (temporal + 1)]
  }

  func aggregate(_ units: [[UInt8]]) -> [UInt8] {
    header(48) + units.flatMap { [UInt8($0.count >> 8), UInt8($0.count & 0xFF)] + $0 }
  }

  func fragment(_ type: UInt8, _ flags: UInt8, temporal: UInt8 = 0, _ content: [UInt8] = [0x9A, 1]) -> [UInt8]
  {
    header(49, temporal: temporal) + [flags | type] + content
  }

  /// With the fields of its own that a PACI packet has (§4.4.4).
  func paci(_ type: UInt8, temporal: UInt8 = 0, fields: [UInt8] = [], _ content: [UInt8]) -> [UInt8] {
    let bits = UInt16(type) << 9 | UInt16(fields.count) << 4 | (fields.isEmpty ? 0 : 8)
    return header(50, temporal: temporal) + [UInt8(bits >> 8), UInt8(bits & 0xFF)] + fields + content
  }

  var videoSet: [UInt8] { header(32) + [0x0C, 1] }
  var sequenceSet: [UInt8] { header(33) + [1, 1, 0x60] }
  var pictureSet: [UInt8] { header(34) + [0xC0] }

  @Test func `parameter sets begin a key frame, alone or in an aggregate`() throws {
    let alone = try parse(videoSet)
    #expect(alone.startsKeyFrame && alone.startsFrame && !alone.isPicture && alone.parameterSetSize == 0)
    for idr: UInt8 in 16...21 {
      let whole = try parse(
        aggregate([header(35) + [0x50], videoSet, sequenceSet, pictureSet, header(idr) + [0xA8, 1]]))
      #expect(whole.startsKeyFrame && whole.startsFrame && whole.isRandomAccess && whole.temporalID == 0)
      #expect(whole.parameterSetOffset == 2 + 5 + 6 + 4 && whole.parameterSetSize == 3)
    }
  }

  @Test func `what follows the first parameter set of a key frame begins nothing`() throws {
    for unit in [
      sequenceSet, pictureSet, aggregate([sequenceSet, pictureSet]), header(19) + [0xA8, 1],
      header(21) + [0xA8, 1], header(39) + [0x05, 1], header(35) + [0x50], fragment(19, 0x80, [0xA8, 1]),
    ] {
      let read = try parse(unit)
      #expect(!read.startsKeyFrame && !read.startsFrame, "\(unit)")
    }
  }

  @Test func `parameter sets before a picture that refers to others are no key frame`() throws {
    let repeated = try parse(aggregate([videoSet, sequenceSet, pictureSet, header(1) + [0x9A]]))
    #expect(!repeated.startsKeyFrame && repeated.startsFrame)
  }

  @Test(arguments: 0...9 as ClosedRange<UInt8>)
  func `the first slice of a picture begins a frame, its others don't`(type: UInt8) throws {
    let first = try parse(header(type, temporal: 1) + [0x9A, 1])
    #expect(first.startsFrame && first.isPicture && !first.startsKeyFrame && !first.isRandomAccess)
    #expect(try !parse(header(type, temporal: 1) + [0x1A, 1]).startsFrame)
    #expect(try parse(fragment(type, 0x80)).startsFrame)
    #expect(try parse(paci(type, [0x9A, 1])).startsFrame)
    #expect(try parse(paci(type, fields: [1, 2, 0x80], [0x9A, 1])).startsFrame)
    #expect(try !parse(paci(type, fields: [1, 2, 0x80], [0x1A, 1])).startsFrame)
    #expect(try parse(aggregate([header(type) + [0x9A], header(type) + [0x1A]])).startsFrame)
  }

  @Test func `only a unit's first fragment begins anything`() throws {
    for flags: UInt8 in [0, 0x40] {
      let later = try parse(fragment(1, flags, temporal: 2))
      #expect(!later.startsFrame && later.isPicture && later.temporalID == 2)
      #expect(try !parse(fragment(32, flags)).startsKeyFrame)
    }
    #expect(try parse(fragment(32, 0x80)).startsKeyFrame)
    #expect(try parse(paci(49, fields: [1, 2, 3], [0x80 | 1, 0x9A, 1])).startsFrame)
    #expect(try parse(fragment(33, 0x80)).parameterSetSize == 0, "it isn't whole")
  }

  @Test func `a picture's sub-layer is that of its slices`() throws {
    for temporal: UInt8 in 0...6 {
      #expect(try parse(header(1, temporal: temporal) + [0x9A]).temporalID == temporal)
      #expect(try parse(header(39, temporal: temporal) + [5]).temporalID == temporal)
      // What stands before a slice may be of a higher one.
      let mixed = aggregate([header(34, temporal: 6) + [0xC0], header(1, temporal: temporal) + [0x9A]])
      #expect(try parse(mixed).temporalID == temporal)
      #expect(
        try parse(aggregate([header(34, temporal: 6), header(39, temporal: temporal)])).temporalID == temporal
      )
    }
  }

  @Test func `types tell where one may go on, and what none refers to`() throws {
    for type: UInt8 in 0...31 {
      let read = try parse(header(type, temporal: 1) + [0x9A])
      #expect(read.isSwitchingPoint == (2...5).contains(type) && read.opensAbove == (2...3).contains(type))
      #expect(read.isUnreferenced == ((0...15).contains(type) && type % 2 == 0))
      let base = try parse(header(type) + [0x9A])
      #expect(!base.isSwitchingPoint && !base.opensAbove, "below the lowest there is nothing")
    }
    #expect(try !parse(header(40) + [1]).isUnreferenced)
  }

  @Test func `units of other layers are read over`() throws {
    for unit in [header(32, layer: 1) + [1], header(1, layer: 33) + [0x9A], header(33, layer: 63) + [1, 2]] {
      let read = try parse(unit)
      #expect(!read.startsFrame && !read.startsKeyFrame && !read.isPicture && read.parameterSetSize == 0)
    }
    let both = try parse(aggregate([header(1, temporal: 1, layer: 1) + [0x9A], header(0) + [0x1A]]))
    #expect(both.isUnreferenced && !both.startsFrame && both.temporalID == 0)
  }

  @Test func `what stands for no unit is refused`() {
    #expect(throws: H265Error.forbiddenBit) { try parse([0xC2, 0x01, 0x9A]) }
    #expect(throws: H265Error.noTemporalID) { try parse([0x02, 0x00, 0x9A]) }
    for type: UInt8 in 51...63 {
      #expect(throws: H265Error.unknownType(type)) { try parse(header(type) + [1, 2, 3]) }
      #expect(throws: H265Error.unknownType(type)) { try parse(paci(type, [1, 2, 3])) }
    }
    for type: UInt8 in 48...63 {
      #expect(throws: H265Error.unknownType(type)) { try parse(fragment(type, 0x80)) }
      #expect(throws: H265Error.unknownType(type)) { try parse(aggregate([header(type) + [1, 2]])) }
    }
    #expect(throws: H265Error.unknownType(50)) { try parse(paci(50, [2, 0, 1, 2])) }
    #expect(throws: H265Error.forbiddenBit) { try parse(header(50) + [0x82, 0, 0x9A]) }
    #expect(throws: H265Error.forbiddenBit) { try parse(aggregate([[0x82, 1, 0x9A]])) }
    #expect(throws: H265Error.noTemporalID) { try parse(aggregate([[0x02, 0, 0x9A]])) }
  }

  @Test func `headers that are cut are refused`() {
    #expect(throws: H265Error.truncated(offset: 0, size: 0)) { try parse([]) }
    #expect(throws: H265Error.truncated(offset: 0, size: 1)) { try parse([0x02]) }
    #expect(throws: H265Error.truncated(offset: 2, size: 2)) { try parse(header(48)) }
    #expect(throws: H265Error.truncated(offset: 2, size: 4)) { try parse(header(48) + [0, 2]) }
    #expect(throws: H265Error.truncated(offset: 4, size: 6)) { try parse(header(48) + [0, 3, 2, 1]) }
    #expect(throws: H265Error.truncated(offset: 4, size: 6)) { try parse(header(48) + [0, 1, 2, 1]) }
    #expect(throws: H265Error.truncated(offset: 6, size: 7)) { try parse(header(48) + [0, 2, 2, 1, 0]) }
    #expect(throws: H265Error.truncated(offset: 2, size: 3)) { try parse(header(49) + [0x81]) }
    #expect(throws: H265Error.truncated(offset: 2, size: 3)) { try parse(header(50) + [0x02]) }
    #expect(throws: H265Error.truncated(offset: 4, size: 6)) { try parse(header(50) + [0x02, 0x30, 1, 2]) }
    #expect(throws: H265Error.truncated(offset: 4, size: 4)) { try parse(paci(48, [])) }
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func `whatever is cut or changed, what is read lies in the payload`(seed: UInt64) {
    var random = RandomSource.seeded(state: seed)
    func pick(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }
    func unit() -> [UInt8] {
      header(UInt8(pick(48)), temporal: UInt8(pick(7)), layer: pick(4) == 0 ? 1 : 0)
        + (0..<pick(6)).map { _ in UInt8(pick(256)) }
    }
    var payload: [UInt8]
    switch pick(4) {
    case 0: payload = aggregate((0...pick(6)).map { _ in unit() })
    case 1: payload = fragment(UInt8(pick(64)), UInt8(pick(4) << 6), temporal: UInt8(pick(7)))
    case 2:
      let inner = [UInt8(pick(50)), 48, 49][pick(3)]
      payload = paci(inner, fields: (0..<pick(32)).map { _ in UInt8(pick(256)) }, aggregate([unit()]))
    default: payload = unit()
    }
    for _ in 0..<pick(4) { payload[pick(payload.count)] ^= 1 << UInt8(pick(8)) }
    for size in 0...payload.count {
      guard let read = try? parse(Array(payload[..<size])) else { continue }
      #expect(size >= 2 && read.temporalID <= 6)
      #expect(read.parameterSetOffset + read.parameterSetSize <= size)
      #expect(!read.startsKeyFrame || read.startsFrame, "a key frame begins a frame")
      #expect(!(read.isRandomAccess && read.isUnreferenced))
    }
  }
}
