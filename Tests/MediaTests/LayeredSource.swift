import Media
import Model
import Wire

/// One encoding of a simulcast in three layers of frame rate, as an encoder makes them:
///
///     frame      0  1  2  3  4 …
///     layer      0  2  1  2  0
///     refers to     0  0  2  0
final class LayeredSource {
  struct Frame {
    let number: Int
    let layer: UInt8
    let isKey: Bool
    /// Frames that it can't be shown without.
    let references: [Int]
  }

  struct Packet {
    let bytes: [UInt8]
    let info: PacketInfo
    let frame: Frame
    let isLast: Bool
  }

  let encoding: UInt8
  private var receiver: TrackReceiver
  private var sequence: UInt16
  private var pictureID: UInt16
  private var tl0: UInt8
  private let base: UInt32
  private var count = 0
  private var position = 0
  private var lastBase = 0
  private var lastMiddle = 0
  /// By extended sequence number.
  private(set) var sent: [Int64: Packet] = [:]
  var wantsKey = true

  init(_ encoding: UInt8, random: inout RandomSource) {
    self.encoding = encoding
    sequence = UInt16(random.next() & 0x7FFF)
    pictureID = UInt16(random.next() & 0x7FFF)
    tl0 = UInt8(random.next() & 0xFF)
    base = UInt32(truncatingIfNeeded: random.next())
    receiver = TrackReceiver(section(.video))
  }

  /// The next frame in so many packets, captured at a moment in milliseconds.
  func next(at moment: Int, packets: Int) -> [Packet] {
    let isKey = wantsKey
    wantsKey = false
    if isKey { position = 0 }
    let layer: UInt8 = [0, 2, 1, 2][position % 4]
    let refersToBaseOnly = position % 4 != 3
    let references =
      isKey
      ? [] : layer == 0 ? [lastBase] : layer == 1 ? [lastBase] : refersToBaseOnly ? [lastBase] : [lastMiddle]
    let frame = Frame(number: count, layer: layer, isKey: isKey, references: references)
    if layer == 0 {
      lastBase = count
      tl0 &+= 1
    }
    if layer == 1 { lastMiddle = count }
    count += 1
    position += 1
    pictureID = (pictureID &+ 1) & 0x7FFF
    return (0..<packets).compactMap { index in
      take(frame, index, of: packets, at: moment, isSync: layer > 0 && refersToBaseOnly)
    }
  }

  private func take(_ frame: Frame, _ index: Int, of packets: Int, at moment: Int, isSync: Bool) -> Packet? {
    var packet = RTPPacket(
      sequence: sequence, timestamp: base &+ UInt32(moment * 90), payloadType: 96,
      marker: index == packets - 1)
    packet.payload =
      [
        0x80 | (index == 0 ? 0x10 : 0) | (frame.layer == 2 ? 0x20 : 0), 0xE0, 0x80 | UInt8(pictureID >> 8),
        UInt8(pictureID & 0xFF), tl0, frame.layer << 6 | (isSync ? 0x20 : 0),
      ] + [
        frame.isKey && index == 0 ? 0x10 : 0x11, encoding, UInt8(truncatingIfNeeded: frame.number),
        UInt8(index),
      ]
    sequence &+= 1
    let taken = receiver.take(packet.bytes, at: milliseconds(moment + 10))
    guard var info = taken.outcome.info else { return nil }
    info.encoding = encoding
    let kept = Packet(bytes: taken.packet, info: info, frame: frame, isLast: index == packets - 1)
    sent[info.extendedSequence] = kept
    return kept
  }
}
