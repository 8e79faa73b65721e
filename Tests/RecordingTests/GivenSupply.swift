import Media
import Model

@testable import Recording

/// Packets of a track that a test gives, as a worker would.
final class GivenSupply: TrackSupply {
  private var waiting: [(packet: FramePacket, clock: ClockMapping?)] = []
  private(set) var isStopped = false
  var isRefused = false

  func give(_ packets: [FramePacket], clock: ClockMapping?) { waiting += packets.map { ($0, clock) } }

  func listen(now: Instant) {}

  func take(_ body: (UnsafeRawBufferPointer, PacketInfo, ClockMapping?) -> Void) {
    for (packet, clock) in waiting {
      Self.bytes(of: packet).withUnsafeBytes { body($0, Self.info(of: packet), clock) }
    }
    waiting = []
  }

  func requestKeyFrame(encoding: Int) {}
  func stop() { isStopped = true }

  /// RTP, as far as it is looked at.
  static func bytes(of packet: FramePacket) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 8)
    withUnsafeBytes(of: packet.ssrc.bigEndian) { bytes += $0 }
    return bytes + packet.payload
  }

  static func info(of packet: FramePacket) -> PacketInfo {
    var info = PacketInfo()
    info.arrival = packet.arrival
    info.extendedSequence = packet.sequence
    info.timestamp = packet.timestamp
    info.restart = packet.restart
    (info.format, info.primaryFormat) = (packet.format, packet.primaryFormat)
    if packet.marker { info.flags.insert(.marker) }
    (info.payloadOffset, info.payloadSize) = (12, UInt16(packet.payload.count))
    return info
  }
}
