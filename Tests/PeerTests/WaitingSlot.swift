import Congestion
import Model
import Testing

@testable import Media
@testable import Peer
@testable import Transport

/// A slot of a subscriber whose path has no room at times, and packets by hand: one of a picture of its own, unless it says otherwise.
final class WaitingSlot {
  let far: ConnectedPeer
  private static let bytes = [UInt8](repeating: 0x80, count: 40)
  private let isNumbered: Bool
  private let format: CodecFormat
  private var infos: [Int64: PacketInfo] = [:]
  /// The numbers under which packets left.
  private(set) var numbers: [UInt16] = []

  /// - Parameter isNumbered: pictures have ids, and with VP8 the index of the lowest layer.
  init(isNumbered: Bool = true, slots: UInt16 = 1, _ format: CodecFormat = .vp8) throws {
    self.isNumbered = isNumbered
    self.format = format
    let sections = (0..<slots).map { index in
      var section = ConnectedPeer.slot(index)
      section.codecs = [NegotiatedCodec(format: format, payloadType: 100, nack: true)]
      return section
    }
    far = try ConnectedPeer(AgreedMedia(send: sections))
    for slot in 0..<Int(slots) {
      let track = TrackKey(peer: PeerKey(home: 1, serial: 9), index: UInt16(slot))
      _ = far.peer.setSource(slot: slot, track, clock: nil)
    }
  }

  func info(
    _ sequence: Int64, layer temporal: UInt8 = 0, _ flags: PacketInfo.Flags = [], of first: Int64? = nil
  ) -> PacketInfo {
    var info = PacketInfo()
    (info.format, info.primaryFormat) = (format, format)
    info.extendedSequence = sequence
    info.timestamp = UInt32(truncatingIfNeeded: (first ?? sequence) * 3_000)
    (info.payloadOffset, info.payloadSize) = (12, 28)
    info.layer.temporal = temporal
    info.flags = first == nil ? flags.union(.frameStart) : flags
    guard isNumbered else { return info }
    info.pictureID = UInt16(truncatingIfNeeded: first ?? sequence)
    info.pictureIDOffset = 2
    info.flags.insert(.longPictureID)
    if format == .vp8 { info.tl0PictureIndexOffset = 4 }
    return info
  }

  /// A packet comes and waits, or leaves at the next `leave`.
  func take(_ info: PacketInfo, slot: Int = 0) {
    // Of each slot its own.
    infos[info.extendedSequence &+ Int64(slot) * 10_000] = info
    let reference = PacketReference(track: slot, sequence: info.extendedSequence)
    far.peer.select(info, reference, slot: slot, now: far.now, context: &far.context)
  }

  /// A key frame has left, and layers 1 and 2 have begun again since then, each twice.
  func begin() {
    take(info(98, [.keyFrame]))
    take(info(99, layer: 2, [.switchingPoint]))
    take(info(100, layer: 1, [.switchingPoint]))
    take(info(101, layer: 2, [.switchingPoint]))
    take(info(102, layer: 1, [.switchingPoint]))
    _ = leave()
  }

  /// The path has no room for 300 ms.
  func fill() {
    far.peer.egress.pacer.setTarget(100_000)
    _ = far.peer.egress.pacer.mayLeave(far.now)
    far.peer.egress.pacer.charge(100_000)
  }

  func pass(_ milliseconds: Int64) { far.now = far.now + .milliseconds(milliseconds) }

  var waiting: Int { far.peer.egress.queue.count }
  var needsKeyFrame: Bool { far.peer.needsKeyFrame(slot: 0) }
  var dropped: UInt64 { far.dropped(SessionDrop.tooLateToLeave) }
  func isCut() -> Bool { far.peer.takeCut() != nil }

  /// Looks through what waits, without room for any of it.
  func look() { _ = far.peer.nextDeparture(now: far.now, context: &far.context) }

  /// Everything that waits leaves.
  /// - Returns: the source's numbers of it, with 10,000 more for each slot above the first.
  func leave() -> [Int64] {
    far.peer.egress.pacer.setTarget(nil)
    var left: [Int64] = []
    while let next = far.peer.nextDeparture(now: far.now, context: &far.context) {
      let name = next.sequence &+ Int64(next.track) * 10_000
      guard let info = infos[name] else { break }
      Self.bytes.withUnsafeBytes { far.peer.depart($0, info, now: far.now, context: &far.context) }
      guard far.context.transport.outbox.count > 0 else { continue }
      let bytes = far.context.transport.outbox.bytes(far.context.transport.outbox[0])
      numbers.append(UInt16(bytes[2]) << 8 | UInt16(bytes[3]))
      left.append(name)
      far.context.transport.outbox.removeAll()
    }
    return left
  }

  /// Whether the stream's numbers run on.
  var isWithoutGap: Bool { zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 &+ 1 } }
}
