import Media
import Model
import Testing
import Wire

@testable import Client

@Suite("What a client sends of a track", .timeLimit(.minutes(1)))
struct TrackSenderTests {
  private let section = SendSection(
    index: 0, mid: "0", kind: .video, codecs: [NegotiatedCodec(codec: .vp8, payloadType: 96, nack: true)],
    extensions: HeaderExtensionMap(), ssrc: 7, rtxSSRC: nil, cname: "c", streamID: "s")
  private let began = Instant(nanoseconds: 5_000_000_000)

  private func sender(seed: UInt64 = 1) throws -> TrackSender {
    var random = RandomSource.seeded(state: seed)
    let made = TrackSender(.vp8, section, began: began, random: &random)
    return try #require(made)
  }

  private func write(_ sender: inout TrackSender, at moment: Instant) throws -> (RTPHeader, UInt64) {
    let payloads = sender.payloads(of: [0, 1, 2, 3])
    let payload = try #require(payloads.first)
    return try withUnsafeTemporaryAllocation(byteCount: 1_600, alignment: 8) { room in
      let found = sender.write(payload, at: moment, into: room)
      let written = try #require(found)
      sender.keep(UnsafeRawBufferPointer(rebasing: room[..<written.size]), written.index)
      return (try RTPHeader(UnsafeRawBufferPointer(rebasing: room[..<written.size])), written.index)
    }
  }

  @Test
  func
    `numbers follow each other across the turn of their sixteen bits, and timestamps are those of the time`()
    throws
  {
    var sender = try sender()
    let (first, index) = try write(&sender, at: began)
    var last = first
    for step in 1...70_000 {
      let (header, next) = try write(&sender, at: began.advanced(byNanoseconds: Int64(step) * 40_000_000))
      #expect(header.sequence == last.sequence &+ 1 && next == index + UInt64(step))
      #expect(header.timestamp == first.timestamp &+ UInt32(truncatingIfNeeded: step * 3_600))
      last = header
    }
    let epoch = Epoch(ntpAtZero: NTPTime(rawValue: 0))
    let report = sender.report(now: began.advanced(byNanoseconds: 1_000_000_000), epoch: epoch)
    #expect(report.rtpTimestamp == first.timestamp &+ 90_000 && report.packetCount == 70_001)
    #expect(report.ntp == epoch.ntp(at: Instant(nanoseconds: 6_000_000_000)))
  }

  @Test func `what is asked for again comes as it left, while it is kept, and not without end`() throws {
    var sender = try sender()
    var sequences: [UInt16] = []
    for step in 0..<1_500 {
      sequences.append(try write(&sender, at: began.advanced(byNanoseconds: Int64(step))).0.sequence)
    }
    let now = began
    for sequence in [sequences[0], sequences[1_499] &+ 1] {
      let none = sender.repetition(of: sequence, now: now)
      #expect(none == nil)
    }
    let again = sender.repetition(of: sequences[1_000], now: now)
    let found = try #require(again)
    #expect(UInt16(found[2]) << 8 | UInt16(found[3]) == sequences[1_000])
    for _ in 0..<2_000 { _ = sender.repetition(of: sequences[1_400], now: now) }
    #expect(sender.counts.sentAgain == 500)
  }

  @Test func `a section without the codec carries nothing`() {
    var random = RandomSource.seeded(state: 1)
    let made = TrackSender(.vp9, section, began: began, random: &random)
    #expect(made == nil)
  }
}
