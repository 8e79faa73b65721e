extension DependencyStructure {
  /// template_dependency_structure of A.8.3. A table's size is checked before it is filled, and the whole is no longer than an element.
  init(_ bits: inout BitReader) throws(DependencyDescriptorError) {
    self.init()
    offset = UInt8(bits.read(6))
    targets.count = UInt8(bits.read(5)) + 1
    active = targets.all
    let highest = try readLayers(&bits)
    for index in 0..<Int(count) {
      for target in 0..<Int(targets.count) { templates[index].set(target, bits.read(2)) }
    }
    for index in 0..<Int(count) {
      var farthest: UInt16 = 0
      while bits.flag() { farthest = max(farthest, UInt16(bits.read(4)) + 1) }
      templates[index].farthest = farthest
    }
    readChains(&bits)
    setTargets()
    if bits.flag() {
      for layer in 0...highest {
        widths[layer] = UInt16(clamping: bits.read(16) + 1)
        heights[layer] = UInt16(clamping: bits.read(16) + 1)
      }
    }
    guard !bits.isOverrun else { throw .truncated }
  }

  /// - Returns: the highest spatial layer.
  private mutating func readLayers(_ bits: inout BitReader) throws(DependencyDescriptorError) -> Int {
    var (spatial, temporal) = (0, 0)
    while true {
      guard count < Self.templateLimit else { throw .tooManyTemplates }
      templates[Int(count)].spatial = UInt8(spatial)
      templates[Int(count)].temporal = UInt8(temporal)
      count += 1
      switch bits.read(2) {
      case 0: break
      case 1: temporal += 1
      case 2:
        temporal = 0
        spatial += 1
      default: return spatial
      }
      guard spatial < Self.spatialLimit, temporal < Self.temporalLimit else { throw .tooManyLayers }
      guard !bits.isOverrun else { throw .truncated }
    }
  }

  /// Chains tell a receiver what it has lost; a forwarder leaves them as they are, and reads over them.
  private mutating func readChains(_ bits: inout BitReader) {
    chains = UInt8(bits.nonSymmetric(below: Int(targets.count) + 1))
    guard chains > 0 else { return }
    for _ in 0..<targets.count { _ = bits.nonSymmetric(below: Int(chains)) }
    for _ in 0..<Int(count) * Int(chains) {
      _ = bits.read(4)
      if bits.isOverrun { return }
    }
  }

  /// A target goes up to the highest layers of the templates that are in it.
  private mutating func setTargets() {
    var (sizes, rates) = (InlineArray<4, UInt32>(repeating: 0), InlineArray<8, UInt32>(repeating: 0))
    for index in 0..<Int(count) {
      let template = templates[index]
      sizes[Int(template.spatial)] |= template.present
      rates[Int(template.temporal)] |= template.present
    }
    var above: UInt32 = 0
    for layer in (0..<4).reversed() {
      targets.bySpatial[layer] = sizes[layer] & ~above
      above |= sizes[layer]
    }
    above = 0
    for layer in (0..<8).reversed() {
      targets.byTemporal[layer] = rates[layer] & ~above
      above |= rates[layer]
    }
  }
}
