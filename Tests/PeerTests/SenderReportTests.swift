import Crypto
import Model
import Testing
import Wire

@testable import Media
@testable import Peer
@testable import Transport

/// Compounds as the far end has them: each opened by its own first source and the next index, as its library would.
@Suite("Sender reports of many slots", .timeLimit(.minutes(2)))
struct SenderReportTests {
  private struct Compound {
    var first: UInt32
    var reports: [SenderReport] = []
    var names: [UInt32] = []
    var blocks = 0
  }

  /// A peer whose slots all show something.
  private func sending(_ count: Int, cname: String, receives: Bool) throws -> ConnectedPeer {
    let slots = (0..<count).map { number in
      var slot = ConnectedPeer.slot(UInt16(number), .audio)
      slot.cname = cname
      return slot
    }
    let far = try ConnectedPeer(
      AgreedMedia(receive: receives ? [ConnectedPeer.section(0, ssrc: 50)] : [], send: slots))
    var packet: [UInt8] = [0x80, 111, 0, 1, 0, 0, 0, 9, 0, 0, 0, 50, 1, 2, 3]
    var info = PacketInfo()
    info.format = .opus
    info.primaryFormat = .opus
    info.payloadOffset = 12
    info.payloadSize = 3
    info.extendedSequence = 0x1_0001
    info.timestamp = 9
    info.arrival = far.now
    let clock = ClockMapping(
      timestamp: 9, ntp: far.context.media.epoch.ntp(at: far.now), rate: 48_000, isReported: true)
    for slot in 0..<count {
      _ = far.peer.setSource(
        slot: slot, TrackKey(peer: PeerKey(home: 0, serial: 7), index: UInt16(slot)), clock: clock)
      packet.withUnsafeMutableBytes {
        far.forward(UnsafeRawBufferPointer($0), info, slot: slot)
      }
    }
    far.context.transport.outbox.removeAll()
    if receives { far.send(ssrc: 50, payloadType: 96) }
    return far
  }

  private func compounds(_ far: ConnectedPeer) throws -> [Compound] {
    far.reportsAreDue()
    far.peer.poll(now: far.now, context: &far.context)
    var opener = try SRTPOpener(keys: ConnectedPeer.near, mappedLimit: SRTPOpener.mappedCapacity)
    var all: [Compound] = []
    for index in 0..<far.context.transport.outbox.count {
      var bytes = Array(far.context.transport.outbox.bytes(far.context.transport.outbox[index]))
      try bytes.withUnsafeMutableBytes { buffer in
        guard RTCPPacket.matches(UnsafeRawBufferPointer(buffer)) else { return }
        let size = try opener.openRTCP(buffer)
        #expect(size <= 1_200)
        var compound = Compound(
          first: UnsafeRawBufferPointer(buffer).loadUnaligned(fromByteOffset: 4, as: UInt32.self).bigEndian)
        var reader = RTCPReader(UnsafeRawBufferPointer(rebasing: buffer[..<size]))
        while let packet = try reader.next() {
          switch packet.kind {
          case .senderReport: compound.reports.append(try SenderReport(packet))
          case .receiverReport: compound.blocks += try ReportBlocks(packet).count
          case .sourceDescription:
            var names = try CNAMEReader(packet)
            while let name = try names.next() { compound.names.append(name.ssrc) }
          default: Issue.record("\(packet.kind)")
          }
        }
        all.append(compound)
      }
    }
    return all
  }

  @Test(arguments: [1, 20, 21, 64], ["c", "a name of its own, which is long"])
  func `each compound opens under its own first source, and each slot is in one`(count: Int, cname: String)
    throws
  {
    for receives in [false, true] {
      let far = try sending(count, cname: cname, receives: receives)
      for _ in 0..<3 {
        let compounds = try compounds(far)
        #expect(compounds.flatMap(\.reports).map(\.ssrc) == (0..<count).map { 7_000 + UInt32($0) })
        #expect(compounds.flatMap(\.reports).allSatisfy { $0.packetCount == 1 && $0.octetCount == 3 })
        #expect(compounds.reduce(0) { $0 + $1.blocks } == (receives ? 1 : 0))
        if count == 64 { #expect(compounds.count >= 3) }
        for compound in compounds {
          #expect(compound.reports.first.map { $0.ssrc == compound.first } ?? (compound.first == 9))
          // A report and its name go together.
          #expect(compound.reports.allSatisfy { compound.names.contains($0.ssrc) })
        }
        far.context.transport.outbox.removeAll()
        far.now = far.now + .seconds(1)
        if receives { far.send(ssrc: 50, payloadType: 96) }
      }
    }
  }
}

/// A retransmission stream's reports: its timestamps are no clock of their own.
@Suite("Sender reports of retransmission streams", .timeLimit(.minutes(2)))
struct RetransmissionReportTests {
  /// A compound of the far end's, which begins with a source that seals it.
  private func send(_ far: ConnectedPeer, _ write: (inout RTCPWriter) -> Void) throws {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_500, alignment: 8)
    defer { buffer.deallocate() }
    var writer = RTCPWriter(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<1_200]))
    writer.append(ReceiverReport(ssrc: 50))
    write(&writer)
    let size = try far.sealRTCP(buffer, size: writer.size)
    _ = far.peer.receive(
      UnsafeMutableRawBufferPointer(rebasing: buffer[..<size]), path: ConnectedPeer.path, arrival: far.now,
      now: far.now, context: &far.context)
  }

  private func report(_ far: ConnectedPeer, ssrc: UInt32, ntp: NTPTime, timestamp: UInt32) throws {
    try send(far) {
      $0.append(
        SenderReport(ssrc: ssrc, ntp: ntp, rtpTimestamp: timestamp, packetCount: 1, octetCount: 1))
    }
  }

  @Test func `a goodbye of one ends nothing of the media's`() throws {
    let far = try ConnectedPeer(AgreedMedia(receive: [ConnectedPeer.section(0, ssrc: 50, rtxSSRC: 51)]))
    far.send(ssrc: 50, payloadType: 96)
    for (ssrcs, isReported) in [([51], true), ([50], false)] as [([UInt32], Bool)] {
      try send(far) { $0.append(goodbye: ssrcs.span) }
      let block = far.peer.session.receiving.pointer(0).pointee.encoding(0).pointee.receiver.reportBlock(
        now: far.now)
      #expect((block != nil) == isReported)
    }
    #expect(far.dropped(.rtcpForeignStream) == 0 && far.dropped(.srtpAuthentication) == 0)
  }

  @Test func `an odd clock in them moves nothing`() throws {
    let far = try ConnectedPeer(AgreedMedia(receive: [ConnectedPeer.section(0, ssrc: 50, rtxSSRC: 51)]))
    let epoch = far.context.media.epoch
    for _ in 0..<3 { far.send(ssrc: 50, payloadType: 96) }
    let stated = epoch.ntp(at: far.now)
    try report(far, ssrc: 50, ntp: stated, timestamp: 102 * 900)
    let mapping = far.peer.clock(receiver: 0, epoch: epoch)
    let before = try #require(mapping)
    #expect(before.isReported)
    far.context.media.effects.clear()
    let odd: [(NTPTime, UInt32)] = [
      (NTPTime(rawValue: 0), 0), (NTPTime(rawValue: .max), .max), (NTPTime(rawValue: 1 << 32), 7),
      (epoch.ntp(at: far.now + .seconds(-3_600)), 102 * 900), (stated, 1 << 31),
      (epoch.ntp(at: far.now + .seconds(20)), 103 * 900),
    ]
    for (ntp, timestamp) in odd {
      far.now = far.now + .milliseconds(10)
      try report(far, ssrc: 51, ntp: ntp, timestamp: timestamp)
    }
    let after = far.peer.clock(receiver: 0, epoch: epoch)
    #expect(after?.timestamp == before.timestamp && after?.ntp == before.ntp)
    #expect(after?.measured == before.measured && after?.isReported == true)
    #expect(far.dropped(.clockStepped) == 0 && far.dropped(.rtcpForeignStream) == 0)
    #expect(far.dropped(.srtpAuthentication) == 0)
    #expect((0..<16).allSatisfy { far.context.media.effects.clocks[$0] == 0 })
    // What is reported back names the media stream's last report.
    let block = far.peer.session.receiving.pointer(0).pointee.encoding(0).pointee.receiver.reportBlock(
      now: far.now)
    #expect(block?.lastSenderReport == stated.middle)
  }
}
