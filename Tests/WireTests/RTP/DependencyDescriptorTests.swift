import Testing
import Wire

@Suite("Dependency descriptor, AV1 RTP specification, appendix A", .timeLimit(.minutes(2)))
struct DependencyDescriptorTests {
  func parse(
    _ bytes: [UInt8], known: DependencyTemplates? = nil
  ) throws(DependencyDescriptorError) -> DependencyDescriptor {
    try withBytes(bytes) { element throws(DependencyDescriptorError) in
      try DependencyDescriptor(element, known: known)
    }
  }

  /// Written bit by bit, as the specification lists the fields.
  func bytes(_ fields: [(value: Int, bits: Int)]) -> [UInt8] {
    var bits: [UInt8] = []
    for (value, count) in fields { bits += (0..<count).reversed().map { UInt8(value >> $0 & 1) } }
    bits += Array(repeating: 0, count: -bits.count & 7)
    return stride(from: 0, to: bits.count, by: 8).map { bits[$0..<$0 + 8].reduce(0) { $0 << 1 | $1 } }
  }

  /// The first packet of a key frame of two temporal layers: template 60 refers to nothing before and is needed,
  /// 61 is needed by both targets, 62 is left out of one and discardable for the other.
  var key: [UInt8] {
    bytes([
      (1, 1), (0, 1), (60, 6), (0x1234, 16), (1, 1), (0, 1), (0, 1), (0, 2),  // what comes with each frame
      (60, 6), (1, 5), (0, 2), (1, 2), (3, 2),  // offset, targets - 1, layers of three templates
      (2, 2), (2, 2), (3, 2), (2, 2), (0, 2), (1, 2),
    ])
  }

  @Test func `three bytes say what a packet is in its frame`() throws {
    let descriptor = try parse([0x85, 0x12, 0x34])
    #expect(descriptor.startsFrame && !descriptor.endsFrame)
    #expect(descriptor.templateID == 5 && descriptor.frameNumber == 0x1234)
    #expect(descriptor.templates == nil && descriptor.isDiscardable == nil)
  }

  @Test func `a key frame brings its templates`() throws {
    let descriptor = try parse(key)
    #expect(
      descriptor.templates
        == DependencyTemplates(offset: 60, count: 3, decodeTargets: 2, discardable: 0b100))
    #expect(descriptor.isDiscardable == false)
  }

  @Test func `later frames name the templates`() throws {
    let templates = try #require(try parse(key).templates)
    #expect(try parse([0xC0 | 61, 0, 1], known: templates).isDiscardable == false)
    #expect(try parse([0xC0 | 62, 0, 1], known: templates).isDiscardable == true)
    #expect(try parse([0xC0 | 63, 0, 1], known: templates).isDiscardable == nil)
    // The numbers go round.
    let late = DependencyTemplates(offset: 63, count: 3, decodeTargets: 1, discardable: 0b10)
    #expect(try parse([0xC0, 0, 1], known: late).isDiscardable == true)
  }

  @Test func `a frame may have decode targets of its own`() throws {
    let templates = try #require(try parse(key).templates)
    let frame = bytes([
      (1, 1), (1, 1), (61, 6), (7, 16), (0, 1), (1, 1), (1, 1), (0, 2), (3, 2), (1, 2), (0, 2),
    ])
    #expect(try parse(frame, known: templates).isDiscardable == true)
    #expect(try parse(frame, known: nil).isDiscardable == nil)
  }

  @Test func `cuts are refused wherever they fall`() throws {
    for count in 0..<3 {
      #expect(throws: DependencyDescriptorError.tooShort(bytes: count)) { try parse(Array(key[..<count])) }
    }
    for count in 4..<key.count {
      #expect(throws: DependencyDescriptorError.truncated) { try parse(Array(key[..<count])) }
    }
  }

  @Test func `templates without end are refused`() {
    #expect(throws: DependencyDescriptorError.tooManyTemplates) {
      try parse([0x80, 0, 0, 0x80] + Array(repeating: 0, count: 60))
    }
  }
}
