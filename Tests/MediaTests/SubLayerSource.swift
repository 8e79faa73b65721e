import Media
import Model
import Wire

/// One encoding of a simulcast of H.265 in three sub-layers, 0 2 1 2, as encoders of different kinds make them.
final class SubLayerSource {
  enum Structure: CaseIterable {
    /// The parameter set says that one can go on to any sub-layer at any time; the types of pictures say nothing.
    case nested
    /// Pictures above the lowest sub-layer refer to none of theirs or above (TSA).
    case typed
    /// Those of the middle refer to one another but for every fourth; those above to the two below (STSA).
    case stepwise
  }

  struct Frame {
    let number: Int
    let layer: UInt8
    let isKey: Bool
    /// Frames that it can't be shown without.
    let references: [Int]
    let isUnreferenced: Bool
  }

  struct Packet {
    let bytes: [UInt8]
    let info: PacketInfo
    let frame: Frame
    let isFirst: Bool
    let isLast: Bool
  }

  let encoding: UInt8
  let structure: Structure
  private var receiver: TrackReceiver
  private var sequence: UInt16
  private let base: UInt32
  private var count = 0
  private var position = 0
  private var lastBase = 0
  private var lastMiddle: Int?
  var wantsKey = true

  init(_ encoding: UInt8, _ structure: Structure, random: inout RandomSource) {
    self.encoding = encoding
    self.structure = structure
    sequence = UInt16(random.next() & 0x7FFF)
    base = UInt32(truncatingIfNeeded: random.next())
    var media = section(.video)
    media.codecs = [NegotiatedCodec(codec: .h265, payloadType: 96, rtxPayloadType: 97, nack: true, pli: true)]
    receiver = TrackReceiver(media)
  }

  /// The next frame in so many packets, captured at a moment in milliseconds; one of a key frame holds its parameter sets.
  func next(at moment: Int, packets: Int) -> [Packet] {
    let isKey = wantsKey
    wantsKey = false
    if isKey { position = 0 }
    defer { position += 1 }
    let layer: UInt8 = [0, 2, 1, 2][position % 4]
    let isStep = position % 16 == 2
    var references: [Int] = []
    if !isKey {
      references = [lastBase]
      if layer == 1, structure == .stepwise, !isStep, let lastMiddle { references.append(lastMiddle) }
      if layer == 2, position % 4 == 3, let lastMiddle { references.append(lastMiddle) }
    }
    let type: UInt8 =
      switch (layer, structure) {
      case (0, _): isKey ? 19 : 1
      case (_, .nested): layer == 2 ? 0 : 1
      case (_, .typed): layer == 2 ? 2 : 3
      case (1, .stepwise): isStep ? 5 : 1
      default: 4
      }
    let frame = Frame(
      number: count, layer: layer, isKey: isKey, references: references, isUnreferenced: layer == 2)
    if layer == 0 { (lastBase, lastMiddle) = (count, isKey ? nil : lastMiddle) }
    if layer == 1 { lastMiddle = count }
    count += 1
    return units(type, temporal: layer, packets: max(packets, isKey ? 2 : 1)).enumerated().compactMap {
      take(frame, $1.payload, isFirst: $0 == 0, isLast: $1.isLast, at: moment)
    }
  }

  private func units(_ type: UInt8, temporal: UInt8, packets: Int) -> [(payload: [UInt8], isLast: Bool)] {
    var payloads: [[UInt8]] = []
    if type == 19 {
      // 640 × 360 in three sub-layers.
      let sequenceSet: [UInt8] = [
        0x42, 0x01, structure == .nested ? 5 : 4, 0x01, 0x60, 0, 0, 3, 0, 0x90, 0, 0, 3, 0, 0, 3, 0, 0x5D, 0,
        0,
        0xA0, 0x05, 0x02, 0x01, 0x69, 0x65, 0x15, 0x9A,
      ]
      payloads.append(
        [0x60, 1, 0, 3, 0x40, 1, 0x0C, 0, UInt8(sequenceSet.count)] + sequenceSet + [0, 3, 0x44, 1, 0xC0])
    }
    let slices = packets - payloads.count
    if slices == 1 {
      payloads.append([type << 1, temporal + 1, 0x9A, encoding])
    } else {
      for index in 0..<slices {
        let flags: UInt8 = (index == 0 ? 0x80 : 0) | (index == slices - 1 ? 0x40 : 0)
        payloads.append([0x62, temporal + 1, flags | type, index == 0 ? 0x9A : 0x80, encoding])
      }
    }
    return payloads.enumerated().map { ($1, $0 == payloads.count - 1) }
  }

  private func take(_ frame: Frame, _ payload: [UInt8], isFirst: Bool, isLast: Bool, at moment: Int)
    -> Packet?
  {
    let packet = RTPPacket(
      sequence: sequence, timestamp: base &+ UInt32(moment * 90), payloadType: 96, marker: isLast,
      payload: payload)
    sequence &+= 1
    let taken = receiver.take(packet.bytes, at: milliseconds(moment + 10))
    guard var info = taken.outcome.info else { return nil }
    info.encoding = encoding
    return Packet(bytes: taken.packet, info: info, frame: frame, isFirst: isFirst, isLast: isLast)
  }
}
