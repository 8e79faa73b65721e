import Crypto
import Model
import Wire

@testable import Media
@testable import Peer
@testable import Transport

/// What a compound of ours says, packet by packet.
enum Said: Equatable {
  case senderReport, name, nack, arrivals, other
  case receiverReport(blocks: Int)
  case goodbye([UInt32])
  case pictureLoss(UInt32)
  case fullIntra(UInt32, UInt8)
  case estimate(UInt64, [UInt32])

  init(_ packet: RTCPPacket) {
    self = (try? Self.read(packet)) ?? .other
  }

  private static func read(_ packet: RTCPPacket) throws -> Said {
    switch packet.kind {
    case .senderReport: return .senderReport
    case .receiverReport: return .receiverReport(blocks: try ReportBlocks(packet).count)
    case .sourceDescription: return .name
    case .goodbye:
      let goodbye = try Goodbye(packet)
      return .goodbye((0..<goodbye.count).compactMap { goodbye[$0] })
    case .nack: return .nack
    case .transportFeedback: return .arrivals
    case .pictureLoss: return .pictureLoss(try PictureLossIndication(packet).sources.media)
    case .fullIntraRequest:
      guard let entry = try FullIntraRequest(packet)[0] else { return .other }
      return .fullIntra(entry.ssrc, entry.sequence)
    case .applicationFeedback:
      let estimate = try ReceiverEstimate(packet)
      return .estimate(estimate.bitrate, (0..<estimate.count).compactMap { estimate[$0] })
    default: return .other
    }
  }
}

extension ConnectedPeer {
  /// Lets time pass, and reads what leaves.
  func said(after wait: Duration) throws -> [Said] {
    now = now + wait
    peer.poll(now: now, context: &context)
    return try taken()
  }

  /// Reads what has left.
  func taken() throws -> [Said] { try compounds().flatMap { $0 } }

  /// Reads what has left, datagram by datagram.
  func compounds() throws -> [[Said]] {
    var opener = try SRTPOpener(keys: Self.near, mappedLimit: SRTPOpener.mappedCapacity)
    var all: [[Said]] = []
    for index in 0..<context.transport.outbox.count {
      var bytes = Array(context.transport.outbox.bytes(context.transport.outbox[index]))
      try bytes.withUnsafeMutableBytes { buffer in
        guard RTCPPacket.matches(UnsafeRawBufferPointer(buffer)) else { return }
        let size = try opener.openRTCP(buffer)
        var reader = RTCPReader(UnsafeRawBufferPointer(rebasing: buffer[..<size]))
        var said: [Said] = []
        while let packet = try reader.next() { said.append(Said(packet)) }
        all.append(said)
      }
    }
    context.transport.outbox.removeAll()
    return all
  }

  /// Sends a sealed compound, as the far end would.
  func sendRTCP(_ write: (inout RTCPWriter) -> Void) throws {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_500, alignment: 8)
    defer { buffer.deallocate() }
    var writer = RTCPWriter(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<1_200]))
    write(&writer)
    let size = try sealRTCP(buffer, size: writer.size)
    _ = peer.receive(
      UnsafeMutableRawBufferPointer(rebasing: buffer[..<size]), path: Self.path, arrival: now, now: now,
      context: &context)
  }

  var keyFrameRequests: [Int] {
    (0..<64).filter { context.media.effects.keyFrameRequests[0] & 1 << UInt64($0) != 0 }
  }
}
