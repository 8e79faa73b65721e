import Crypto
import Model
import Peer
import Transport
import Wire

/// What goes to and from a peer under attack, held to what was promised of it.
final class PeerTraffic {
  var allowsReducedSize = false
  /// Of the last check or answer that left.
  private(set) var lastTransaction: ArraySlice<UInt8>?
  /// Of our streams.
  private(set) var lastSequences: [UInt32: UInt16] = [:]
  /// The middle of the last sender report's time.
  private(set) var lastReport: UInt32 = 0
  /// Bytes per path: all that came, and what went out before the path was proven.
  private var received: [NetworkPath: Int] = [:]
  private var sent: [NetworkPath: Int] = [:]
  private var proven: Set<NetworkPath> = []
  private var checks: [[UInt8]] = []
  /// The far end's; nil before it is connected.
  private var opener: SRTPOpener?
  /// What was sealed under each index.
  private var sealed: [UInt32: [UInt64: [UInt8]]] = [:]

  func expect(_ keys: SRTPKeys) {
    opener = try? SRTPOpener(keys: keys, mappedLimit: SRTPOpener.mappedCapacity)
  }

  func came(_ bytes: Int, on path: NetworkPath) { received[path, default: 0] += bytes }

  /// STUN that left since the last call, the newest.
  func takeChecks() -> [[UInt8]] {
    defer { checks = [] }
    return checks
  }

  func left(_ datagram: [UInt8], on path: NetworkPath, isProven: Bool) {
    check((1...Outbox.slotSize).contains(datagram.count), "a datagram has its bounds")
    if isProven { proven.insert(path) }
    switch datagram[0] {
    case 0...3: stun(datagram, path)
    case 20...63:
      check(proven.contains(path), "DTLS goes to proven addresses alone")
      check(datagram.withUnsafeBytes { DTLSRecord.looksLikeRecords($0) }, "DTLS is made of records")
    case 128...191:
      check(proven.contains(path), "media goes to proven addresses alone")
      check(isConnected, "media waits for keys")
      let isReport = datagram.withUnsafeBytes { RTCPPacket.matches($0) }
      if isReport { report(datagram) } else { media(datagram) }
    default: check(false, "a datagram is of one of the protocols")
    }
  }

  private var isConnected: Bool {
    switch opener {
    case .some: true
    case .none: false
    }
  }

  private func stun(_ datagram: [UInt8], _ path: NetworkPath) {
    check(datagram.withUnsafeBytes { (try? STUNMessage($0)) != nil }, "STUN is read")
    lastTransaction = datagram[8..<20]
    if checks.count >= 16 { checks.removeFirst() }
    checks.append(datagram)
    guard !proven.contains(path) else { return }
    sent[path, default: 0] += datagram.count
    check(
      sent[path, default: 0] <= 3 * received[path, default: 0],
      "an unproven address gets three times what it sent at most")
  }

  private func report(_ datagram: [UInt8]) {
    var bytes = datagram
    bytes.withUnsafeMutableBytes { buffer in
      guard let size = try? opener?.openRTCP(buffer) else { return check(false, "a report is opened") }
      var reader = RTCPReader(UnsafeRawBufferPointer(rebasing: buffer[..<size]))
      var count = 0
      do throws(RTCPError) {
        while let packet = try reader.next() {
          count += 1
          if let report = try? SenderReport(packet) { lastReport = report.ntp.middle }
          guard count == 1, !allowsReducedSize else { continue }
          check(
            packet.kind == .senderReport || packet.kind == .receiverReport,
            "a compound begins with a report where nothing less was agreed on")
        }
      } catch {
        check(false, "a report is read")
      }
      check(count > 0, "a compound says something")
    }
  }

  private func media(_ datagram: [UInt8]) {
    var bytes = datagram
    bytes.withUnsafeMutableBytes { buffer in
      let size: Int
      do throws(SRTPError) {
        guard let opened = try opener?.openRTP(buffer) else { return }
        size = opened
      } catch {
        return refused(error, datagram)
      }
      guard let header = try? RTPHeader(UnsafeRawBufferPointer(rebasing: buffer[..<size])) else {
        return check(false, "a packet is read")
      }
      check(
        PeerMedia.ownStreams[header.ssrc]?.contains(header.payloadType) == true,
        "a packet is of a stream of ours, in a codec that was agreed on")
      lastSequences[header.ssrc] = header.sequence
      let highest = opener?.highestIndex(ssrc: header.ssrc) ?? 0
      let behind = Int64(Int16(bitPattern: header.sequence &- UInt16(truncatingIfNeeded: highest)))
      sealed[header.ssrc, default: [:]][UInt64(bitPattern: Int64(bitPattern: highest) &+ behind)] = datagram
    }
  }

  /// The same bytes may go out once more; other bytes under the same index would give the key away.
  private func refused(_ error: SRTPError, _ datagram: [UInt8]) {
    let ssrc = datagram[8..<12].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    switch error {
    case .replayed(let index): check(sealed[ssrc]?[index] == datagram, "an index is sealed once")
    case .tooOld: break
    default: check(false, "a packet is opened")
    }
  }
}
