internal import Model
internal import Wire

extension DependencyReader {
  /// What was seen of the picture that comes isn't written: the next one tells it again.
  func encode(into writer: inout StateWriter) {
    writer.write(structureSequence)
    writer.write(structure.offset)
    writer.write(structure.count)
    writer.write(structure.chains)
    writer.write(structure.active)
    structure.targets.encode(into: &writer)
    for index in 0..<Int(structure.count) {
      let template = structure.templates[index]
      writer.write(template.spatial)
      writer.write(template.temporal)
      writer.write(template.present)
      writer.write(template.switches)
      writer.write(template.needed)
      writer.write(template.farthest)
    }
    for layer in 0..<DependencyStructure.spatialLimit {
      writer.write(structure.widths[layer])
      writer.write(structure.heights[layer])
    }
  }

  init(from reader: inout StateReader) throws(StateError) {
    self.init()
    let sequence: Int64 = try reader.integer()
    var read = DependencyStructure()
    let offset = reader.offset
    read.offset = try reader.integer()
    read.count = try reader.integer()
    read.chains = try reader.integer()
    read.active = try reader.integer()
    read.targets = try DecodeTargets(from: &reader)
    guard read.offset < 64, read.count <= 64, read.chains <= read.targets.count,
      read.active & ~read.targets.all == 0, read.count == 0 || read.targets.count > 0
    else { throw .invalid(field: "dependency structure", offset: offset) }
    for index in 0..<Int(read.count) {
      let offset = reader.offset
      var template = DependencyTemplate()
      template.spatial = try reader.integer()
      template.temporal = try reader.integer()
      template.present = try reader.integer()
      template.switches = try reader.integer()
      template.needed = try reader.integer()
      template.farthest = try reader.integer()
      guard template.spatial < DependencyStructure.spatialLimit,
        template.temporal < DependencyStructure.temporalLimit
      else { throw .invalid(field: "dependency template", offset: offset) }
      read.templates[index] = template
    }
    for layer in 0..<DependencyStructure.spatialLimit {
      read.widths[layer] = try reader.integer()
      read.heights[layer] = try reader.integer()
    }
    take(read, sequence)
  }

  /// What builds wrote that read a part of a structure: the next key frame brings the whole.
  static func skipTemplates(_ reader: inout StateReader) throws(StateError) {
    _ = try reader.bool()
    for _ in 0..<3 { _ = try reader.integer(UInt8.self) }
    _ = try reader.integer(UInt64.self)
  }
}

extension DecodeTargets {
  func encode(into writer: inout StateWriter) {
    writer.write(count)
    for layer in 0..<4 { writer.write(bySpatial[layer]) }
    for layer in 0..<8 { writer.write(byTemporal[layer]) }
  }

  init(from reader: inout StateReader) throws(StateError) {
    self.init()
    let offset = reader.offset
    count = try reader.integer()
    for layer in 0..<4 { bySpatial[layer] = try reader.integer() }
    for layer in 0..<8 { byTemporal[layer] = try reader.integer() }
    guard count <= 32 else { throw .invalid(field: "decode targets", offset: offset) }
  }
}
