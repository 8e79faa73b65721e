import Media
import Model
import Wire

let start = Instant(nanoseconds: 1_000_000_000)
/// Wall time at 0 of the tests' clock.
let epoch = Epoch(ntpAtZero: NTPTime(unixNanoseconds: 1_800_000_000_000_000_000))

func milliseconds(_ count: Int) -> Instant { start + .milliseconds(count) }

/// One RTP packet in plain text, as a publisher sends it.
struct RTPPacket {
  var sequence: UInt16 = 0
  var timestamp: UInt32 = 0
  var ssrc: UInt32 = 0x1111_1111
  var payloadType: UInt8 = 96
  var marker = false
  var contributors: [UInt32] = []
  var level: AudioLevel?
  var payload: [UInt8] = [0xAA]

  var bytes: [UInt8] {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2_048, alignment: 8)
    defer { buffer.deallocate() }
    guard
      var writer = RTPWriter(
        into: buffer, marker: marker, payloadType: payloadType, sequence: sequence, timestamp: timestamp,
        ssrc: ssrc, csrcCount: contributors.count)
    else { return [] }
    for (index, ssrc) in contributors.enumerated() { writer.setContributor(index, ssrc: ssrc) }
    if var byte = level?.byte { writer.append(id: 1, &byte, size: 1) }
    let size = writer.finish()
    return Array(buffer[..<size]) + payload
  }

  /// The packet as a retransmission under another SSRC carries it.
  func repeated(ssrc: UInt32, payloadType: UInt8, sequence outer: UInt16) -> [UInt8] {
    var packet = self
    packet.sequence = outer
    packet.ssrc = ssrc
    packet.payloadType = payloadType
    packet.payload = [UInt8(sequence >> 8), UInt8(sequence & 0xFF)] + payload
    return packet.bytes
  }
}

/// A VP8 payload: descriptor, and a first byte that says whether the frame is a key frame.
func vp8(
  key: Bool = false, starts: Bool = true, pictureID: UInt16? = nil, long: Bool = true, tl0: UInt8? = nil,
  discardable: Bool = false
) -> [UInt8] {
  var bytes: [UInt8] = [(starts ? 0x10 : 0) | (discardable ? 0x20 : 0)]
  if pictureID != nil || tl0 != nil {
    bytes[0] |= 0x80
    bytes.append((pictureID != nil ? 0x80 : 0) | (tl0 != nil ? 0x40 : 0))
    if let pictureID {
      bytes +=
        long ? [0x80 | UInt8(pictureID >> 8 & 0x7F), UInt8(pictureID & 0xFF)] : [UInt8(pictureID & 0x7F)]
    }
    if let tl0 { bytes.append(tl0) }
  }
  return bytes + [key ? 0x10 : 0x11, 0xBB, 0xCC]
}

func section(
  _ kind: MediaKind, ssrc: UInt32? = 0x1111_1111, rtxSSRC: UInt32? = 0x2222_2222, nack: Bool = true
) -> ReceiveSection {
  ReceiveSection(
    index: 0, mid: "0", kind: kind,
    codecs: kind == .video
      ? [NegotiatedCodec(codec: .vp8, payloadType: 96, rtxPayloadType: 97, nack: nack, pli: true)]
      : [NegotiatedCodec(codec: .opus, payloadType: 111)],
    extensions: HeaderExtensionMap(), ssrc: ssrc, rtxSSRC: rtxSSRC)
}

extension TrackReceiver {
  /// A report that came when it was made.
  mutating func senderReport(ntp: NTPTime, timestamp: UInt32, arrival: Instant) {
    senderReport(
      ntp: ntp, timestamp: timestamp, arrival: arrival, moment: epoch.ntp(at: arrival), epoch: epoch)
  }

  /// Gives it the packet as it came from the wire.
  mutating func take(_ bytes: [UInt8], isRTX: Bool = false, level: AudioLevel? = nil, at now: Instant = start)
    -> (outcome: Outcome, packet: [UInt8])
  {
    var bytes = bytes
    return bytes.withUnsafeMutableBytes { buffer in
      guard let header = try? RTPHeader(UnsafeRawBufferPointer(buffer)) else {
        return (.dropped(.malformedPayload), [])
      }
      let outcome = receive(buffer, header, isRTX: isRTX, audioLevel: level, arrival: now)
      guard case .media(_, let offset, let size) = outcome else { return (outcome, []) }
      return (outcome, Array(buffer[offset..<offset + size]))
    }
  }
}

extension TrackReceiver.Outcome {
  var info: PacketInfo? { if case .media(let info, _, _) = self { info } else { nil } }
  var drop: MediaDrop? { if case .dropped(let reason) = self { reason } else { nil } }
}

extension Forwarder {
  /// Both halves, as where nothing waits in between.
  mutating func rewrite(
    _ packet: UnsafeRawBufferPointer, _ info: PacketInfo, into buffer: UnsafeMutableRawBufferPointer,
    epoch: Epoch
  ) -> OutgoingPacket? {
    guard let selection = select(info) else { return nil }
    return depart(selection, packet, info, now: info.arrival, into: buffer, epoch: epoch)
  }
}
