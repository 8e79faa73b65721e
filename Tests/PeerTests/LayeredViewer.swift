import Crypto
import Model
import Testing
import Wire

@testable import Media
@testable import Peer
@testable import Transport

/// A subscriber of pictures in layers, which has a decoder judge what comes: it knows what each frame refers to, and has what came before
/// alone.
final class LayeredViewer {
  private struct Seen {
    var number: UInt16
    var timestamp: UInt32
    var isMarked: Bool
    var pictureID: UInt16
    var lowest: UInt8
    var frame: Int
    var place: Int
  }

  let far: ConnectedPeer
  let model: LayeredModel
  /// What is wrong with what came.
  private(set) var problems: [String] = []
  /// Frames that came whole, by their layer of frame rate.
  private(set) var whole: [Int] = [0, 0, 0]
  /// The stream's and the source's numbers of what left.
  private(set) var left: [(number: UInt16, source: Int64)] = []
  private var opener: SRTPOpener
  private var packets: [Int64: LayeredModel.Packet] = [:]
  private var last: Seen?
  private var decoded: Set<Int> = []
  private var receiver = VP8Receiver()
  /// The last id and index of VP8, which count on where their bits end.
  private var id = 0
  private var lowest = 0

  init(_ kind: LayeredModel.Kind, seed: UInt64) throws {
    model = LayeredModel(kind, seed: seed)
    var slot = ConnectedPeer.slot(0)
    slot.codecs = [NegotiatedCodec(format: kind.format, payloadType: 100, nack: true, pli: true)]
    far = try ConnectedPeer(AgreedMedia(send: [slot]))
    opener = try SRTPOpener(keys: ConnectedPeer.near, mappedLimit: SRTPOpener.mappedCapacity)
    _ = far.peer.setSource(slot: 0, TrackKey(peer: PeerKey(home: 1, serial: 9), index: 0), clock: nil)
  }

  var needsKeyFrame: Bool { far.peer.needsKeyFrame(slot: 0) }
  var dropped: UInt64 { far.dropped(SessionDrop.tooLateToLeave) }

  /// Packets of the source come.
  func take(_ taken: [LayeredModel.Packet]) throws {
    for packet in taken {
      let sequence = packet.info.extendedSequence
      packets[sequence] = packet
      let became = packet.bytes.withUnsafeBytes {
        far.peer.forward(
          $0, packet.info, PacketReference(track: 0, sequence: sequence), slot: 0, now: far.now,
          context: &far.context)
      }
      if became == .done { try see(packet) }
    }
  }

  /// What may leave does.
  func depart() throws {
    while let next = far.peer.nextDeparture(now: far.now, context: &far.context) {
      guard let packet = packets[next.sequence] else { return }
      packet.bytes.withUnsafeBytes {
        far.peer.depart($0, packet.info, now: far.now, context: &far.context)
      }
      try see(packet)
    }
  }

  /// Which packet of the source a request for one of the stream means.
  func source(of number: UInt16) -> Int64? {
    far.peer.session.retransmission(slot: 0, sequence: number, now: far.now)?.source
  }

  // MARK: - The decoder

  private func see(_ packet: LayeredModel.Packet) throws {
    defer { far.context.transport.outbox.removeAll() }
    guard far.context.transport.outbox.count > 0 else { return }
    var bytes = Array(far.context.transport.outbox.bytes(far.context.transport.outbox[0]))
    let size = try bytes.withUnsafeMutableBytes { try opener.openRTP($0) }
    let header = try bytes.withUnsafeBytes {
      try RTPHeader(UnsafeRawBufferPointer(rebasing: $0[..<size]))
    }
    let payload = Array(bytes[header.headerSize..<size])
    left.append((header.sequence, packet.info.extendedSequence))
    let seen = Seen(
      number: header.sequence, timestamp: header.timestamp, isMarked: header.marker,
      pictureID: UInt16(payload[2] & 0x7F) << 8 | UInt16(payload[3]), lowest: payload[4],
      frame: packet.frame, place: packet.place)
    let frame = model.frames[packet.frame]
    if let last { follow(seen, frame, last, model.frames[last.frame]) }
    last = seen
    decode(seen, frame)
  }

  private func report(_ problem: String, _ frame: LayeredModel.Frame) {
    problems.append("frame \(frame.number), layer \(frame.spatial).\(frame.temporal): \(problem)")
  }

  private func follow(
    _ seen: Seen, _ frame: LayeredModel.Frame, _ last: Seen, _ before: LayeredModel.Frame
  ) {
    if seen.number != last.number &+ 1 { report("number \(seen.number) after \(last.number)", frame) }
    if seen.frame == last.frame {
      if seen.place != last.place + 1 { report("packet \(seen.place) after \(last.place)", frame) }
    } else {
      if seen.place != 0 { report("it lacks its beginning", frame) }
      if last.place + 1 != before.packets { end(before, frame) }
    }
    let time = Int32(bitPattern: seen.timestamp &- last.timestamp)
    if before.picture == frame.picture {
      if time != 0 || last.isMarked { report("its picture has ended", frame) }
      return
    }
    if time <= 0 { report("the timestamp steps by \(time)", frame) }
    let isComplete = last.place + 1 == before.packets && before.spatial == model.kind.sizes - 1
    if isComplete, !last.isMarked { report("the picture before it has no mark", frame) }
    guard model.kind.format == .vp8 else { return }
    let step = (seen.pictureID &- last.pictureID) & 0x7FFF
    if step != 1 { report("the picture id steps by \(step)", frame) }
    if model.kind == .vp8, seen.lowest &- last.lowest != (frame.temporal == 0 ? 1 : 0) {
      report("TL0PICIDX goes from \(last.lowest) to \(seen.lowest)", frame)
    }
  }

  /// A frame ends in the middle.
  private func end(_ cut: LayeredModel.Frame, _ next: LayeredModel.Frame) {
    guard !next.isKey else { return }
    if cut.temporal == 0 { report("one of the lowest layer is cut off before it", next) }
    if !model.kind.namesReferences { report("receivers wait for the rest of the one before", next) }
  }

  private func decode(_ seen: Seen, _ frame: LayeredModel.Frame) {
    if seen.place == 0 {
      if frame.isKey, frame.spatial == 0 { decoded = [] }
      if let missing = frame.references.first(where: { !decoded.contains($0) }) {
        report("it refers to \(missing), which didn't come", frame)
      }
      id += Int((seen.pictureID &- UInt16(truncatingIfNeeded: id)) & 0x7FFF)
      lowest += Int(seen.lowest &- UInt8(truncatingIfNeeded: lowest))
    }
    guard seen.place + 1 == frame.packets else { return }
    if model.kind == .vp8 {
      let isTaken = receiver.take(
        VP8Receiver.Frame(
          id: id, lowest: lowest, layer: frame.temporal, isKey: frame.isKey, isSync: frame.begins))
      if !isTaken { report("receivers wait with it", frame) }
    }
    decoded.insert(frame.number)
    whole[frame.temporal] += 1
  }
}
