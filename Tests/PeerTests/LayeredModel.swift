import Media
import Model

/// An encoder of pictures in layers, which knows what each frame refers to and says of that what its codec says. Which layer comes next, what
/// a frame refers to and where a layer begins again is left to chance.
final class LayeredModel {
  enum Kind: CaseIterable, Sendable {
    /// Three layers of frame rate with picture ids and the index of the lowest.
    case vp8
    /// One layer, with picture ids alone.
    case plainVP8
    /// Two layers of size, three of frame rate, which pictures say that they open.
    case vp9
    /// The same, as dependency descriptors say it.
    case described
    /// Three sub-layers by the types of pictures.
    case h265

    var format: CodecFormat {
      switch self {
      case .vp8, .plainVP8: .vp8
      case .vp9, .described: CodecFormat(.vp9)
      case .h265: CodecFormat(.h265)
      }
    }
    var sizes: Int { self == .vp9 || self == .described ? 2 : 1 }
    /// Receivers see by its numbers what refers to a frame of which something is missing.
    var namesReferences: Bool { self != .plainVP8 && self != .h265 }
  }

  struct Frame {
    let number: Int
    let picture: Int
    let spatial: Int
    let temporal: Int
    let isKey: Bool
    /// None refers to it.
    let isFree: Bool
    /// It refers to none of its layer.
    let begins: Bool
    /// Layers of frame rate that can be gone on to behind it.
    let opens: UInt8
    /// Frames that it can't be shown without.
    let references: [Int]
    let packets: Int
  }

  struct Packet {
    let bytes: [UInt8]
    let info: PacketInfo
    let frame: Int
    let place: Int
  }

  static let size = 1_172
  let kind: Kind
  private(set) var frames: [Frame] = []
  var wantsKey = true
  private var random: RandomSource
  private var picture = -1
  private var sequence: Int64 = 100
  private var lowest: UInt8 = 200
  /// The newest of each layer that others may refer to.
  private var newest: [[Int?]] = []
  /// Layers that have begun since the key frame: receivers of VP8 take no frame of a layer before one that says so.
  private var begun: Set<Int> = []

  init(_ kind: Kind, seed: UInt64) {
    self.kind = kind
    random = RandomSource.seeded(state: seed)
  }

  private func isOne(in count: UInt64) -> Bool { random.next() % count == 0 }

  /// The next picture.
  func next() -> [Packet] {
    let isKey = wantsKey
    wantsKey = false
    picture += 1
    if isKey { newest = Array(repeating: Array(repeating: nil, count: 3), count: kind.sizes) }
    let temporal = isKey || kind == .plainVP8 || random.next() % 5 < 2 ? 0 : 1 + Int(random.next() % 2)
    if temporal == 0 { lowest &+= 1 }
    if isKey { begun = [] }
    let isUnbegun = kind == .vp8 && temporal > 0 && !begun.isSuperset(of: 1...temporal)
    let begins = temporal > 0 && (kind == .vp8 || kind == .h265) && (isOne(in: 3) || isUnbegun)
    if begins { begun.insert(temporal) }
    let opens = isKey ? 0 : opened(temporal, begins: begins)
    let isFree = !isKey && opens == 0 && (kind == .plainVP8 || temporal == 2 && kind != .vp9) && isOne(in: 2)
    for spatial in 0..<kind.sizes {
      make(spatial, temporal, isKey: isKey, isFree: isFree, begins: begins, opens: opens)
    }
    return frames.suffix(kind.sizes).flatMap { frame in (0..<frame.packets).map { packet(frame, $0) } }
  }

  private func opened(_ temporal: Int, begins: Bool) -> UInt8 {
    switch kind {
    case .vp8, .plainVP8: 0
    case .vp9: isOne(in: 3) ? 0xFE << UInt8(temporal) : 0
    case .described: temporal == 2 || !isOne(in: 2) ? 0 : temporal == 0 ? 0b111 : 0b100
    case .h265: begins && isOne(in: 2) ? 0xFE << UInt8(temporal) : 0
    }
  }

  private func make(
    _ spatial: Int, _ temporal: Int, isKey: Bool, isFree: Bool, begins: Bool, opens: UInt8
  ) {
    if begins { newest[spatial][temporal] = nil }
    var references: [Int] = []
    if !isKey, let base = newest[spatial][0] { references.append(base) }
    if temporal > 0, !(begins && kind == .vp8) {
      for layer in 1...temporal {
        if let other = newest[spatial][layer], !isOne(in: 4) { references.append(other) }
      }
    }
    if spatial > 0 { references.append(frames.count - 1) }
    let frame = Frame(
      number: frames.count, picture: picture, spatial: spatial, temporal: temporal, isKey: isKey,
      isFree: isFree, begins: begins, opens: opens, references: references,
      packets: 1 + Int(random.next() % 3))
    frames.append(frame)
    if opens != 0 {
      for layer in 0..<3 where layer > temporal { newest[spatial][layer] = nil }
    }
    if !isFree { newest[spatial][temporal] = frame.number }
  }

  private func packet(_ frame: Frame, _ place: Int) -> Packet {
    var info = PacketInfo()
    (info.format, info.primaryFormat) = (kind.format, kind.format)
    info.extendedSequence = sequence
    sequence += 1
    info.timestamp = UInt32(truncatingIfNeeded: 77_000 + frame.picture * 3_000)
    (info.payloadOffset, info.payloadSize) = (12, UInt16(Self.size - 12))
    info.layer = LayerID(spatial: UInt8(frame.spatial), temporal: UInt8(frame.temporal))
    info.layer.opens = frame.opens
    info.flags = flags(frame, isFirst: place == 0, isLast: place == frame.packets - 1)
    var bytes = [UInt8](repeating: 0x55, count: Self.size)
    bytes[0] = 0x80
    let id = UInt16(truncatingIfNeeded: frame.picture) & 0x7FFF
    if kind != .h265 {
      info.pictureID = id
      info.pictureIDOffset = 2
      info.flags.insert(.longPictureID)
      bytes.replaceSubrange(12..<14, with: [0x80, kind == .plainVP8 ? 0x80 : 0xE0])
      bytes.replaceSubrange(14..<16, with: [0x80 | UInt8(id >> 8), UInt8(id & 0xFF)])
    }
    if kind == .vp8 {
      info.tl0PictureIndex = lowest
      info.tl0PictureIndexOffset = 4
      bytes[16] = lowest
    }
    return Packet(bytes: bytes, info: info, frame: frame.number, place: place)
  }

  private func flags(_ frame: Frame, isFirst: Bool, isLast: Bool) -> PacketInfo.Flags {
    var flags: PacketInfo.Flags = []
    let isTop = frame.spatial == kind.sizes - 1
    if isFirst, frame.spatial == 0 { flags.insert(.frameStart) }
    if isFirst, frame.isKey { flags.insert(frame.spatial == 0 ? .keyFrame : .beginsSpatialLayer) }
    if frame.isFree { flags.insert(.discardable) }
    if isLast, isTop { flags.insert(.marker) }
    if isLast, kind.format != .vp8 { flags.insert(.endsLayerFrame) }
    if isTop { flags.insert(.topSpatialLayer) }
    if frame.begins {
      flags.insert(frame.temporal == 1 || kind == .vp8 ? .switchingPoint : .switchesFromBelow)
    }
    return flags
  }
}
