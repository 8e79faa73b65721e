import Testing
import Wire

@Suite("Dependency descriptor, AV1 RTP specification, appendix A", .timeLimit(.minutes(2)))
struct DependencyDescriptorTests {
  func parse(
    _ bytes: [UInt8], _ structure: inout DependencyStructure
  ) throws(DependencyDescriptorError) -> DependencyDescriptor {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { copy.deallocate() }
    copy.copyBytes(from: bytes)
    return try DependencyDescriptor(UnsafeRawBufferPointer(copy), &structure)
  }

  /// Written bit by bit, as the specification lists the fields.
  func bytes(_ fields: [(value: Int, bits: Int)]) -> [UInt8] {
    var bits: [UInt8] = []
    for (value, count) in fields { bits += (0..<count).reversed().map { UInt8(value >> $0 & 1) } }
    bits += Array(repeating: 0, count: -bits.count & 7)
    return stride(from: 0, to: bits.count, by: 8).map { bits[$0..<$0 + 8].reduce(0) { $0 << 1 | $1 } }
  }

  /// Of a structure with three templates from 60 on, of two temporal layers: a key frame, one that is needed by both targets, one
  /// that is left out of the first and discardable in the second.
  let structure: [(Int, Int)] = [
    (60, 6), (1, 5), (0, 2), (1, 2), (3, 2),  // offset, targets - 1, layers
    (2, 2), (2, 2), (3, 2), (2, 2), (0, 2), (1, 2),  // what each template is to each target
    (0, 1), (1, 1), (1, 4), (0, 1), (1, 1), (0, 4), (0, 1),  // to nothing, two back, one back
    (2, 2), (0, 4), (2, 4), (1, 4),  // one chain, which protects both
    (1, 1), (639, 16), (359, 16),  // the size of pictures
  ]

  /// The first packet of a key frame.
  func key(active: Int? = nil) -> [UInt8] {
    bytes(
      [
        (1, 1), (0, 1), (60, 6), (0x1234, 16), (1, 1), (active == nil ? 0 : 1, 1), (0, 1), (0, 2),
      ] + structure + (active.map { [($0, 2)] } ?? []))
  }

  func known() throws -> DependencyStructure {
    var structure = DependencyStructure()
    _ = try parse(key(), &structure)
    return structure
  }

  @Test func `three bytes say what a packet is in its frame`() throws {
    var none = DependencyStructure()
    let descriptor = try parse([0x85, 0x12, 0x34], &none)
    #expect(descriptor.startsFrame && !descriptor.endsFrame && !descriptor.hasStructure)
    #expect(descriptor.templateID == 5 && descriptor.frameNumber == 0x1234)
    #expect(descriptor.frame == nil && !none.isKnown)
  }

  @Test func `a key frame brings templates, targets, and the size of pictures`() throws {
    var structure = DependencyStructure()
    let descriptor = try parse(key(), &structure)
    #expect(structure.offset == 60 && structure.count == 3 && structure.targets.count == 2)
    #expect(structure.chains == 1 && structure.active == 3)
    #expect(structure.widths[0] == 640 && structure.heights[0] == 360 && structure.widths[1] == 0)
    #expect(descriptor.hasStructure && descriptor.activeTargets == nil)
    let frame = try #require(descriptor.frame)
    #expect(frame.farthest == 0 && !frame.isDiscardable && frame.isTop && !frame.isNotNeededAbove)
    #expect(frame.opens == 0b11, "all can be begun at a key frame")
    #expect(structure.targets.upTo(spatial: 0, temporal: 0) == 1)
    #expect(structure.targets.upTo(spatial: 255, temporal: 255) == 3)
  }

  @Test func `later frames name the templates`() throws {
    var structure = try known()
    let base = try #require(try parse([0xC0 | 61, 0, 1], &structure).frame)
    #expect(!base.isDiscardable && base.temporal == 0 && base.farthest == 2 && base.opens == 0b10)
    let upper = try #require(try parse([0xC0 | 62, 0, 1], &structure).frame)
    #expect(upper.isDiscardable && upper.temporal == 1 && upper.farthest == 1 && upper.opens == 0)
    #expect(try parse([0xC0 | 63, 0, 1], &structure).frame == nil)
    // The numbers go round.
    structure.offset = 63
    #expect(try parse([0xC0, 0, 1], &structure).frame?.farthest == 2)
  }

  @Test func `a frame may have targets, references and chains of its own`() throws {
    var structure = try known()
    let own = bytes([
      (1, 1), (1, 1), (61, 6), (7, 16), (0, 1), (1, 1), (1, 1), (1, 1), (1, 1), (1, 2),
      (1, 2), (0, 2), (1, 2), (4, 4), (3, 2), (2_000, 12), (0, 2), (17, 8),
    ])
    let frame = try #require(try parse(own, &structure).frame)
    #expect(frame.isDiscardable && frame.farthest == 2_001 && structure.active == 1)
    // The template is as it was, and only the first target is sent.
    #expect(try parse([0xC0 | 61, 0, 1], &structure).frame?.farthest == 2)
    for count in 4..<own.count {
      #expect(throws: DependencyDescriptorError.truncated) { try parse(Array(own[..<count]), &structure) }
    }
  }

  @Test func `without a structure nothing is known of a frame's own dependencies`() throws {
    var none = DependencyStructure()
    #expect(try parse([0x80, 0, 1, 0x7F, 0xFF], &none).frame == nil)
  }

  @Test func `cuts are refused wherever they fall, and change nothing`() throws {
    let key = key(active: 1)
    var structure = DependencyStructure()
    for count in 0..<3 {
      #expect(throws: DependencyDescriptorError.tooShort(bytes: count)) {
        try parse(Array(key[..<count]), &structure)
      }
    }
    for count in 4..<key.count {
      #expect(throws: DependencyDescriptorError.truncated) { try parse(Array(key[..<count]), &structure) }
    }
    #expect(!structure.isKnown)
  }

  @Test func `templates and layers without end are refused`() {
    var structure = DependencyStructure()
    #expect(throws: DependencyDescriptorError.tooManyTemplates) {
      try parse([0x80, 0, 0, 0x80] + Array(repeating: 0, count: 60), &structure)
    }
    // Each template is of the next temporal, or spatial, layer.
    #expect(throws: DependencyDescriptorError.tooManyLayers) {
      try parse([0x80, 0, 0, 0x80] + Array(repeating: 0x55, count: 60), &structure)
    }
    #expect(throws: DependencyDescriptorError.tooManyLayers) {
      try parse([0x80, 0, 0, 0x80] + Array(repeating: 0xAA, count: 60), &structure)
    }
  }

  // MARK: - Rewriting

  /// As a subscriber reads it that gets the first target alone.
  func rewritten(_ element: [UInt8], hasStructure: Bool, _ structure: DependencyStructure) throws -> [UInt8] {
    var known = structure
    let offset = try parse(element, &known).targetsOffset
    return try element.withUnsafeBytes { element in
      let change = try #require(
        ActiveTargetsChange(
          element, targets: 1, count: known.targets.count, offset: hasStructure ? offset : nil))
      return (0..<change.size).map { change.byte($0, element) }
    }
  }

  @Test(arguments: [nil, 3] as [Int?]) func `a structure keeps all but its targets`(active: Int?) throws {
    let changed = try rewritten(key(active: active), hasStructure: true, DependencyStructure())
    let wanted = key(active: 1)
    #expect(Array(changed.prefix(wanted.count)) == wanted, "as one that was written with them")
    #expect(changed.dropFirst(wanted.count).allSatisfy { $0 == 0 })
  }

  @Test func `a frame's own dependencies stay behind the targets`() throws {
    let before: [(Int, Int)] = [(1, 1), (1, 1), (61, 6), (7, 16), (0, 1)]
    let behind: [(Int, Int)] = [(1, 2), (0, 2), (1, 2), (4, 4), (0, 2), (17, 8)]
    let own = bytes(before + [(0, 1), (1, 1), (1, 1), (1, 1)] + behind)
    let changed = try rewritten(own, hasStructure: false, try known())
    let wanted = bytes(before + [(1, 1), (1, 1), (1, 1), (1, 1), (1, 2)] + behind)
    #expect(
      Array(changed.prefix(wanted.count)) == wanted && changed.dropFirst(wanted.count).allSatisfy { $0 == 0 })
  }

  @Test func `one of three bytes grows, and one that would be too long says so`() throws {
    #expect(
      try rewritten([0x80 | 61, 0, 9], hasStructure: false, try known()) == [0x80 | 61, 0, 9, 0b0100_0010])
    let long: [UInt8] = [0x80 | 61, 0, 9] + Array(repeating: 0, count: 252)
    long.withUnsafeBytes { #expect(ActiveTargetsChange($0, targets: 1, count: 2, offset: nil)?.size == 256) }
    long.dropLast().withUnsafeBytes {
      #expect(ActiveTargetsChange($0, targets: 1, count: 2, offset: nil)?.size == 255)
    }
  }
}
