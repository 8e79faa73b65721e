import Foundation
import Media
import Model
import Wire

/// Packets that GStreamer's payloaders made of files, and those files.
enum PayloaderFixture {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Fixtures/containers")

  static func bytes(of name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: folder.appending(path: name)))
  }

  static func format(_ name: String) -> CodecFormat {
    switch name {
    case "vp8": .vp8
    case "vp9": CodecFormat(.vp9)
    case "av1": CodecFormat(.av1)
    case "h264": .h264(.constrainedBaseline, mode: 1)!
    case "h265": CodecFormat(.h265)
    default: .opus
    }
  }

  /// In their order, numbers going on beyond 65,535; each came 10 ms after the one before it.
  static func packets(_ name: String) throws -> [FramePacket] {
    let bytes = try bytes(of: name + ".rtp")
    var packets: [FramePacket] = []
    var extender: Int64 = 0
    var offset = 0
    while offset + 2 <= bytes.count {
      let size = Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
      let packet = Array(bytes[(offset + 2)..<(offset + 2 + size)])
      offset += 2 + size
      let header = try packet.withUnsafeBytes { packet in
        Result { () throws(RTPError) in try RTPHeader(packet) }
      }
      .get()
      if packets.isEmpty { extender = Int64(header.sequence) }
      let number = extender + Int64(packets.count)
      precondition(UInt16(truncatingIfNeeded: number) == header.sequence)
      let payload = packet[header.payloadOffset..<(header.payloadOffset + header.payloadSize)]
      packets.append(
        FramePacket(
          sequence: number, timestamp: header.timestamp, marker: header.marker, format: format(name),
          ssrc: header.ssrc, arrival: Instant(nanoseconds: Int64(packets.count) * 10_000_000),
          payload: Array(payload)))
    }
    return packets
  }

  /// Frames of packets in the order in which they are given.
  static func frames(_ packets: [FramePacket]) -> [EncodedFrame] {
    var assembler = FrameAssembler()
    var frames: [EncodedFrame] = []
    var expected: Int64?
    for packet in packets {
      if let expected, packet.sequence != expected { assembler.lose() }
      expected = packet.sequence + 1
      assembler.add(packet, into: &frames)
    }
    return frames
  }
}
