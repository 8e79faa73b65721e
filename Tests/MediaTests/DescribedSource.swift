import Media
import Model
import Testing
import Wire

/// Writes numbers bit by bit, the highest first.
struct BitWriter {
  private var bits: [UInt8] = []

  mutating func put(_ value: Int, _ count: Int) {
    bits += (0..<count).reversed().map { UInt8(value >> $0 & 1) }
  }

  /// ns(n) of the AV1 specification, §4.10.7.
  mutating func putNonSymmetric(_ value: Int, below limit: Int) {
    let width = Int.bitWidth - limit.leadingZeroBitCount
    let short = 1 << width - limit
    if value < short { put(value, width - 1) } else { put(value + short, width) }
  }

  var bytes: [UInt8] {
    let padded = bits + Array(repeating: 0, count: -bits.count & 7)
    return stride(from: 0, to: padded.count, by: 8).map { padded[$0..<$0 + 8].reduce(0) { $0 << 1 | $1 } }
  }
}

/// A scalability mode: `spatial` sizes and `temporal` frame rates, with frames of a lower size referred to at key frames alone or in
/// each picture.
struct ScalabilityMode: Equatable, CustomStringConvertible {
  var spatial: Int
  var temporal: Int
  var isKeyed = false

  var targets: Int { spatial * temporal }
  var description: String { "L\(spatial)T\(temporal)\(isKeyed ? "_KEY" : "")" }
  /// The temporal layer of a picture.
  func layer(_ position: Int) -> Int {
    [[0], [0, 1], [0, 2, 1, 2]][temporal - 1][position % (1 << (temporal - 1))]
  }

  static let all: [ScalabilityMode] = (1...3).flatMap { spatial in
    (1...3).flatMap { temporal in
      [ScalabilityMode(spatial: spatial, temporal: temporal)]
        + (spatial > 1 ? [ScalabilityMode(spatial: spatial, temporal: temporal, isKeyed: true)] : [])
    }
  }
}

/// An encoder with dependency descriptors, which knows its references; the packets of its frames as a receiver has described them.
final class DescribedSource {
  struct Frame {
    let number: Int
    let picture: Int
    let spatial: Int
    let temporal: Int
    let isKey: Bool
    /// Frames that it can't be shown without.
    let references: [Int]
    /// By decode target: 0 not present, 1 discardable, 2 switch, 3 required.
    let targets: [Int]
    let mode: ScalabilityMode
    /// Spatial layers that are sent at present.
    let active: Int
    var packets: [Int64] = []

    var shape: Shape {
      Shape(
        spatial: spatial, temporal: temporal, targets: targets,
        distances: references.map { number - $0 }.sorted())
    }
  }

  /// What a template says.
  struct Shape: Hashable {
    var spatial: Int
    var temporal: Int
    var targets: [Int]
    var distances: [Int]
  }

  struct Packet {
    var bytes: [UInt8]
    let frame: Int
    let isFirst: Bool
    let isLast: Bool
    let endsPicture: Bool
  }

  private(set) var mode: ScalabilityMode
  private(set) var active: Int
  private(set) var frames: [Frame] = []
  var wantsKey = true
  /// Frames' payloads can't be read.
  let isEncrypted: Bool
  static let id: UInt8 = 7

  private var templates: [Shape] = []
  private var offset = 0
  private var sequence: UInt16
  private var picture = -1
  private var position = 0
  private var newest: [[Int]] = []
  private let firstNumber: Int
  private let base: UInt32
  /// The active targets are to be said.
  private var saysActive = 0

  init(_ mode: ScalabilityMode, isEncrypted: Bool, random: inout RandomSource) {
    self.mode = mode
    self.isEncrypted = isEncrypted
    active = mode.spatial
    sequence = UInt16(random.next() & 0x7FFF)
    firstNumber = Int(random.next() & 0xFFFF)
    base = UInt32(truncatingIfNeeded: random.next())
    offset = Int(random.next() % 64)
  }

  func number(_ frame: Int) -> UInt16 { UInt16(truncatingIfNeeded: firstNumber + frame) }

  /// The next picture. At a key frame the mode may become another.
  func next(_ following: ScalabilityMode? = nil, random: inout RandomSource) -> [Packet] {
    let isKey = wantsKey
    wantsKey = false
    picture += 1
    if isKey {
      if let following { mode = following }
      position = 0
      active = mode.spatial
      saysActive = 0
      newest = Array(repeating: Array(repeating: -1, count: 3), count: mode.spatial)
      makeTemplates()
    } else if active > 1, random.next() % 60 == 0 {
      active -= 1
      saysActive = 4
    }
    let layer = mode.layer(position)
    let isBegun = isKey || random.next() % 40 == 0 && layer == 0
    let made = (0..<active).map { makeFrame($0, layer, isKey) }
    position += 1
    return made.flatMap { frame in
      packets(
        of: frame, isLastOfPicture: frame == made.last, hasStructure: isBegun && frame == made.first, &random)
    }
  }

  private func makeFrame(_ spatial: Int, _ temporal: Int, _ isKey: Bool) -> Int {
    var references: [Int] = []
    if !isKey {
      // The second of the highest layer refers to the middle one.
      let isAfterMiddle = temporal == 2 && position % 4 == 3
      references.append(newest[spatial][isAfterMiddle ? 1 : 0])
    }
    if spatial > 0, isKey || !mode.isKeyed { references.append(frames.count - 1) }
    let frame = Frame(
      number: frames.count, picture: picture, spatial: spatial, temporal: temporal, isKey: isKey,
      references: references, targets: indications(spatial, temporal, isKey), mode: mode, active: active)
    newest[spatial][temporal] = frame.number
    frames.append(frame)
    return frame.number
  }

  private func indications(_ spatial: Int, _ temporal: Int, _ isKey: Bool) -> [Int] {
    (0..<mode.targets).map { target in
      let (size, rate) = (target / mode.temporal, target % mode.temporal)
      let isOwn = spatial == size
      guard temporal <= rate, isOwn || spatial < size && (isKey || !mode.isKeyed) else { return 0 }
      if isKey { return 2 }
      guard isOwn else { return 3 }
      return temporal > 0 && temporal == rate ? 1 : 2
    }
  }

  /// One for each kind of frame that two rounds of an unchanged mode have.
  private func makeTemplates() {
    offset = (offset + templates.count) % 64
    let (frames, newest, position) = (self.frames, self.newest, self.position)
    var shapes: Set<Shape> = []
    for round in 0..<9 {
      for spatial in 0..<mode.spatial {
        let frame = makeFrame(spatial, mode.layer(self.position), round == 0)
        shapes.insert(self.frames[frame].shape)
      }
      self.position += 1
    }
    (self.frames, self.newest, self.position) = (frames, newest, position)
    templates = shapes.sorted {
      ($0.spatial, $0.temporal, "\($0.targets)\($0.distances)")
        < ($1.spatial, $1.temporal, "\($1.targets)\($1.distances)")
    }
  }

  private func packets(
    of number: Int, isLastOfPicture: Bool, hasStructure: Bool, _ random: inout RandomSource
  ) -> [Packet] {
    let count = 1 + Int(random.next() % 3)
    return (0..<count).map { index in
      let (isFirst, isLast) = (index == 0, index == count - 1)
      let frame = frames[number]
      var packet = RTPPacket(
        sequence: sequence, timestamp: base &+ UInt32(frame.picture * 3_000), payloadType: 96,
        marker: isLast && isLastOfPicture)
      let says = isFirst && saysActive > 0
      if says { saysActive -= 1 }
      let element = descriptor(
        frame, isFirst, isLast, hasStructure: hasStructure && isFirst, saysActive: says,
        random.next() % 8 == 0)
      packet.payload =
        isEncrypted
        ? [0xFF, 0xFF, 0xFF, UInt8(truncatingIfNeeded: number), UInt8(index)]
        : [frame.isKey && frame.spatial == 0 && isFirst ? 0x18 : isFirst ? 0x10 : 0x90, 0x30, UInt8(index)]
      sequence &+= 1
      return Packet(
        bytes: packet.bytes(with: [(Self.id, element)]), frame: number, isFirst: isFirst, isLast: isLast,
        endsPicture: isLast && isLastOfPicture)
    }
  }

  // MARK: - The descriptor, as the specification lists its fields

  private func descriptor(
    _ frame: Frame, _ isFirst: Bool, _ isLast: Bool, hasStructure: Bool, saysActive: Bool, _ hasChains: Bool
  ) -> [UInt8] {
    let shape = frame.shape
    let exact = templates.firstIndex(of: shape)
    let index =
      exact ?? templates.firstIndex { ($0.spatial, $0.temporal) == (shape.spatial, shape.temporal) }!
    let (hasTargets, hasDistances) = (
      templates[index].targets != shape.targets, templates[index].distances != shape.distances
    )
    var bits = BitWriter()
    bits.put(isFirst ? 1 : 0, 1)
    bits.put(isLast ? 1 : 0, 1)
    bits.put((offset + index) % 64, 6)
    bits.put(Int(self.number(frame.number)), 16)
    guard hasStructure || saysActive || hasTargets || hasDistances || hasChains else { return bits.bytes }
    let saysTargets = saysActive || hasStructure && frame.active < mode.spatial
    for flag in [hasStructure, saysTargets, hasTargets, hasDistances, hasChains] { bits.put(flag ? 1 : 0, 1) }
    if hasStructure { putStructure(&bits) }
    if saysTargets { bits.put(1 << (frame.active * mode.temporal) - 1, mode.targets) }
    if hasTargets { for target in shape.targets { bits.put(target, 2) } }
    if hasDistances {
      for distance in shape.distances {
        let nibbles = distance <= 16 ? 1 : distance <= 256 ? 2 : 3
        bits.put(nibbles, 2)
        bits.put(distance - 1, 4 * nibbles)
      }
      bits.put(0, 2)
    }
    if hasChains { for chain in 0..<mode.spatial { bits.put(40 + chain, 8) } }
    return bits.bytes
  }

  private func putStructure(_ bits: inout BitWriter) {
    bits.put(offset, 6)
    bits.put(mode.targets - 1, 5)
    for index in templates.indices {
      guard index + 1 < templates.count else {
        bits.put(3, 2)
        break
      }
      let (here, next) = (templates[index], templates[index + 1])
      bits.put(next.spatial > here.spatial ? 2 : next.temporal > here.temporal ? 1 : 0, 2)
    }
    for template in templates { for target in template.targets { bits.put(target, 2) } }
    for template in templates {
      for distance in template.distances {
        bits.put(1, 1)
        bits.put(distance - 1, 4)
      }
      bits.put(0, 1)
    }
    bits.putNonSymmetric(mode.spatial, below: mode.targets + 1)
    for target in 0..<mode.targets { bits.putNonSymmetric(target / mode.temporal, below: mode.spatial) }
    for template in templates {
      for chain in 0..<mode.spatial { bits.put((template.temporal + chain) & 15, 4) }
    }
    bits.put(1, 1)
    for spatial in 0..<mode.spatial {
      bits.put(320 << spatial - 1, 16)
      bits.put(180 << spatial - 1, 16)
    }
  }
}

extension TrackReceiver {
  /// Takes a packet of a described source.
  /// - Parameter bytes: in plain text.
  mutating func take(described bytes: inout [UInt8], at moment: Int) -> Outcome {
    bytes.withUnsafeMutableBytes { buffer in
      guard let header = try? RTPHeader(UnsafeRawBufferPointer(buffer)) else {
        return .dropped(.malformedPayload)
      }
      var carried = CarriedExtensions()
      var reader = HeaderExtensionReader(UnsafeRawBufferPointer(buffer), header)
      while let element = reader.next() {
        guard element.id == DescribedSource.id else { continue }
        carried.descriptorOffset = UInt16(element.offset)
        carried.descriptorSize = UInt8(element.size)
      }
      return receive(
        buffer, header, isRTX: false, audioLevel: nil, carried: carried, arrival: milliseconds(moment))
    }
  }
}
