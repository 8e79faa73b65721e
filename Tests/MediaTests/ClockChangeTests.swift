import Media
import Model
import Testing
import Wire

/// A voice that changes its codec in mid-stream, and a slot that takes every codec; given clocks as by a worker.
private struct Voice: ~Copyable {
  static let codecs = [
    NegotiatedCodec(codec: .opus, payloadType: 111), NegotiatedCodec(codec: .pcmu, payloadType: 0),
    NegotiatedCodec(codec: .g722, payloadType: 9),
  ]
  static let wallOffset: Int64 = 77_000_000_000

  var receiver: TrackReceiver
  var slot: Forwarder
  let section: SendSection
  var clock = PublisherClock()
  /// Whether the slot gets the publisher's clock; without it the voice is as before its first report.
  var passesClock = true

  init() {
    receiver = TrackReceiver(
      ReceiveSection(
        index: 0, mid: "0", kind: .audio, codecs: Self.codecs, extensions: HeaderExtensionMap(),
        ssrc: 0x1111_1111))
    section = SendSection(
      index: 0, mid: "7", kind: .audio, codecs: Self.codecs, extensions: HeaderExtensionMap(), ssrc: 9,
      rtxSSRC: nil, cname: "c", streamID: "s")
    var random = RandomSource.seeded(state: 1)
    slot = Forwarder(section, random: &random)
    _ = slot.setSource(TrackKey(peer: PeerKey(rawValue: 1), index: 0), clock: nil)
  }

  private mutating func tell() {
    if passesClock, let mapping = receiver.mapping(clock, epoch: epoch) { slot.setClock(mapping) }
  }

  /// - Returns: the outgoing timestamp.
  mutating func send(
    _ sequence: UInt16, type: UInt8, timestamp: UInt32, at moment: Int, delay: Int = 10
  ) -> UInt32? {
    let packet = RTPPacket(sequence: sequence, timestamp: timestamp, payloadType: type)
    let taken = receiver.take(packet.bytes, at: milliseconds(moment + delay))
    guard let info = taken.outcome.info else { return nil }
    tell()
    var room = [UInt8](repeating: 0, count: 1_600)
    return room.withUnsafeMutableBytes { buffer in
      taken.packet.withUnsafeBytes { packet in
        guard let sent = slot.rewrite(packet, info, into: buffer, epoch: epoch) else { return nil }
        return try? RTPHeader(UnsafeRawBufferPointer(rebasing: buffer[..<sent.size])).timestamp
      }
    }
  }

  /// The publisher's report.
  mutating func report(timestamp: UInt32, at moment: Int, delay: Int = 10) {
    let ntp = epoch.ntp(at: milliseconds(moment)).advanced(byNanoseconds: Self.wallOffset)
    let arrival = milliseconds(moment + delay)
    clock.report(ntp, arrival: arrival, epoch: epoch)
    receiver.senderReport(
      ntp: ntp, timestamp: timestamp, arrival: arrival, moment: clock.serverTime(ntp), epoch: epoch)
    tell()
  }

  /// By how many milliseconds the slot's report errs about a packet that was taken at `moment`; nil without report.
  mutating func error(of timestamp: UInt32, at moment: Int, rate: Int, now: Int) -> Double? {
    guard let report = slot.senderReport(now: milliseconds(now), epoch: epoch) else { return nil }
    let units = Int(Int32(bitPattern: report.rtpTimestamp &- timestamp))
    // Reports are in the time of the least delay, which is 10 ms.
    return Double(units) * 1_000 / Double(rate) - Double(now - moment - 10)
  }

  mutating func rebuild() throws {
    var writer = StateWriter()
    slot.encode(into: &writer)
    receiver.encode(into: &writer)
    var reader = StateReader(writer.bytes)
    slot = try Forwarder(section, from: &reader)
    receiver = try TrackReceiver(
      ReceiveSection(
        index: 0, mid: "0", kind: .audio, codecs: Self.codecs, extensions: HeaderExtensionMap(),
        ssrc: 0x1111_1111), from: &reader)
    try reader.finish()
  }
}

@Suite("A codec with another clock in one stream", .timeLimit(.minutes(5)))
struct ClockChangeTests {
  /// How publishers go on counting: by the old clock until the change, by the new one, or from anywhere.
  enum Habit: CaseIterable { case old, new, anywhere }

  /// A second of Opus, then half a second of PCMU.
  private func change(_ voice: inout Voice, _ habit: Habit, delay: (Int) -> Int = { _ in 10 })
    -> (before: UInt32, after: [UInt32])
  {
    voice.report(timestamp: 5_000 &- 960, at: -20)
    var before: UInt32 = 0
    var after: [UInt32] = []
    for number in 0..<75 {
      let isChanged = number >= 50
      let last = 5_000 + 49 * 960 as UInt32
      let first = last &+ (habit == .old ? 960 : habit == .new ? 160 : 0xC000_0000)
      let timestamp = isChanged ? first &+ UInt32(number - 50) * 160 : 5_000 + UInt32(number) * 960
      if number == 2 { voice.report(timestamp: timestamp, at: 40) }
      let sent = voice.send(
        UInt16(number), type: isChanged ? 0 : 111, timestamp: timestamp, at: number * 20, delay: delay(number)
      )
      if isChanged { after.append(sent ?? 0) } else { before = sent ?? 0 }
    }
    return (before, after)
  }

  @Test(arguments: Habit.allCases)
  func `timestamps go on by the clock before the change, and then by the new one`(habit: Habit) throws {
    var voice = Voice()
    let (before, after) = change(&voice, habit)
    #expect(abs(Int32(bitPattern: after[0] &- before) - 960) <= 1)
    #expect(zip(after, after.dropFirst()).allSatisfy { $1 &- $0 == 160 })
  }

  @Test(arguments: Habit.allCases)
  func `reports right after a change are right, before the publisher has made one`(habit: Habit) throws {
    var voice = Voice()
    let (_, after) = change(&voice, habit)
    let error = try some(voice.error(of: after[24], at: 74 * 20, rate: 8_000, now: 1_600))
    #expect(abs(error) < 1)
    try voice.rebuild()
    let again = try some(voice.error(of: after[24], at: 74 * 20, rate: 8_000, now: 1_700))
    #expect(abs(again) < 1)
  }

  @Test func `what jitter hid is right with the publisher's next report`() throws {
    var voice = Voice()
    let (_, after) = change(&voice, .new) { $0 == 50 ? 45 : 10 }
    let guessed = try some(voice.error(of: after[24], at: 74 * 20, rate: 8_000, now: 1_600))
    #expect(abs(abs(guessed) - 35) < 1)
    voice.report(timestamp: 5_000 + 49 * 960 + 160 + 25 * 160, at: 1_500)
    let error = try some(voice.error(of: after[24], at: 74 * 20, rate: 8_000, now: 1_600))
    #expect(abs(error) < 1)
  }

  @Test func `a clock that was never reported is guessed again and given to no slot`() throws {
    var voice = Voice()
    _ = voice.send(1, type: 111, timestamp: 0, at: 0)
    _ = voice.send(2, type: 0, timestamp: 160, at: 20)
    let mapping = try some(voice.receiver.mapping(voice.clock, epoch: epoch))
    #expect(!mapping.isReported && mapping.rate == 8_000 && mapping.timestamp == 160)
    let report = voice.slot.senderReport(now: milliseconds(5_000), epoch: epoch)
    #expect(report == nil)
  }

  @Test func `no report is made of the clock before the change`() throws {
    var voice = Voice()
    _ = voice.send(0, type: 111, timestamp: 0 &- 48_000, at: -1_000)
    voice.report(timestamp: 0 &- 48_000, at: -1_000)
    voice.report(timestamp: 0, at: 0)
    _ = voice.send(1, type: 111, timestamp: 960, at: 20)
    let first = voice.slot.senderReport(now: milliseconds(40), epoch: epoch)
    #expect(first != nil)
    voice.passesClock = false
    _ = voice.send(2, type: 0, timestamp: 1_120, at: 40)
    let between = voice.slot.senderReport(now: milliseconds(60), epoch: epoch)
    #expect(between == nil)
    // Nor does another source begin where that clock would have it.
    _ = voice.slot.setSource(TrackKey(peer: PeerKey(rawValue: 2), index: 0), clock: nil)
    let kept = voice.slot.source
    #expect(kept?.peer.rawValue == 2)
  }

  @Test func `a report from before the change that comes after it is not believed`() throws {
    var voice = Voice()
    let (_, after) = change(&voice, .new)
    // Made 60 ms before the change, and 600 ms on its way.
    voice.report(timestamp: 5_000 + 47 * 960, at: 940, delay: 600)
    let error = try some(voice.error(of: after[24], at: 74 * 20, rate: 8_000, now: 1_600))
    #expect(abs(error) < 1)
    // What it says of the way there and back counts all the same.
    let block = voice.receiver.reportBlock(now: milliseconds(1_640))
    #expect(try some(block).delaySinceLastSenderReport == 6_553)
  }

  @Test func `a report that overtakes the first packet of the new clock is not believed`() throws {
    var voice = Voice()
    voice.report(timestamp: 0, at: 0)
    for number in 1...50 {
      _ = voice.send(UInt16(number), type: 111, timestamp: UInt32(number) * 960, at: number * 20)
    }
    voice.report(timestamp: 0xC000_0000 &+ 80, at: 1_010, delay: 5)
    let first = try some(voice.send(51, type: 0, timestamp: 0xC000_0000 &+ 160, at: 1_020))
    let error = try some(voice.error(of: first, at: 1_020, rate: 8_000, now: 1_100))
    // The report came in 5 ms: that is the least delay now, and the publisher's time is 5 ms further than with 10.
    #expect(abs(error - 5) < 1)
  }

  @Test func `what the change overtook is dropped, and the clock changes once`() throws {
    var voice = Voice()
    for number in 1...4 as ClosedRange<UInt16> {
      _ = voice.send(number, type: 111, timestamp: UInt32(number) * 960, at: Int(number) * 20)
    }
    let restarts = voice.receiver.restarts
    let first = try some(voice.send(7, type: 0, timestamp: 5_000, at: 140))
    let late = voice.receiver.take(
      RTPPacket(sequence: 5, timestamp: 4_800, payloadType: 111).bytes, at: milliseconds(141))
    #expect(late.outcome.drop == .otherClock)
    let next = try some(voice.send(8, type: 0, timestamp: 5_160, at: 160))
    #expect(next &- first == 160)
    let after = voice.receiver.restarts
    #expect(after == restarts &+ 1)
    // It counts as received: only one is missing.
    let block = try some(voice.receiver.reportBlock(now: milliseconds(170)))
    #expect(block.cumulativeLost == 1)
  }

  @Test func `codecs of one clock change without a seam`() throws {
    var voice = Voice()
    _ = voice.send(1, type: 0, timestamp: 160, at: 20)
    let before = try some(voice.send(2, type: 0, timestamp: 320, at: 40))
    let after = try some(voice.send(3, type: 9, timestamp: 480, at: 60, delay: 90))
    #expect(after &- before == 160)
    let restarts = voice.receiver.restarts
    #expect(restarts == 0)
  }

  @Test func `jitter is reported in units of the clock that is`() throws {
    var voice = Voice()
    for number in 0..<60 {
      _ = voice.send(
        UInt16(number), type: 111, timestamp: UInt32(number) * 960, at: number * 20,
        delay: number % 2 == 0 ? 10 : 20)
    }
    let before = try some(voice.receiver.reportBlock(now: milliseconds(1_300))).jitter
    _ = voice.send(60, type: 0, timestamp: 0, at: 1_200)
    let after = try some(voice.receiver.reportBlock(now: milliseconds(1_300))).jitter
    #expect(before > 400 && abs(Int(after) - Int(before) / 6) <= 1)
  }

  @Test func `a slot goes over to a speaker with another clock, and its reports with it`() throws {
    var opus = Voice()
    _ = change(&opus, .new)
    // PCMU is what it has now; a source with Opus comes, whose clock is known.
    let other = ClockMapping(
      timestamp: 900, ntp: epoch.ntp(at: milliseconds(10)), rate: 48_000, isReported: true)
    _ = opus.slot.setSource(TrackKey(peer: PeerKey(rawValue: 2), index: 0), clock: other)
    var receiver = TrackReceiver(section(.audio))
    let taken = receiver.take(
      RTPPacket(timestamp: 900 + 1_500 * 48, payloadType: 111).bytes, at: milliseconds(1_530))
    let info = try some(taken.outcome.info)
    var room = [UInt8](repeating: 0, count: 1_600)
    let first: UInt32? = room.withUnsafeMutableBytes { buffer in
      taken.packet.withUnsafeBytes { packet in
        guard let sent = opus.slot.rewrite(packet, info, into: buffer, epoch: epoch) else { return nil }
        return try? RTPHeader(UnsafeRawBufferPointer(rebasing: buffer[..<sent.size])).timestamp
      }
    }
    let error = try some(opus.error(of: try some(first), at: 1_500, rate: 48_000, now: 1_700))
    #expect(abs(error) < 1)
  }

  // MARK: - Receivers

  /// What libwebrtc makes of reports: a straight line through the last twenty.
  private struct Line {
    var points: [(timestamp: Double, milliseconds: Double)] = []

    mutating func add(_ timestamp: UInt32, _ milliseconds: Int) {
      points.append((Double(timestamp), Double(milliseconds)))
      points = points.suffix(20)
    }

    func moment(of timestamp: UInt32) -> Double {
      let count = Double(points.count)
      let (x, y) = (
        points.map(\.timestamp).reduce(0, +) / count, points.map(\.milliseconds).reduce(0, +) / count
      )
      let slope =
        points.reduce(0) { $0 + ($1.timestamp - x) * ($1.milliseconds - y) }
        / points.reduce(0) { $0 + ($1.timestamp - x) * ($1.timestamp - x) }
      return y + slope * (Double(timestamp) - x)
    }
  }

  @Test func `a receiver that draws a line through twenty reports is right again within two seconds`() throws
  {
    var voice = Voice()
    var line = Line()
    voice.report(timestamp: 0, at: -20)
    var errors: [Int: Double] = [:]
    var due = 0
    for number in 0..<1_700 {
      let isChanged = number >= 1_500
      let timestamp =
        isChanged ? 1_499 * 960 + 160 * UInt32(number - 1_498) : 960 * UInt32(number + 1)
      let sent = try some(
        voice.send(UInt16(number), type: isChanged ? 0 : 111, timestamp: timestamp, at: number * 20))
      while due <= number * 20 {
        let report = voice.slot.senderReport(now: milliseconds(due), epoch: epoch)
        if let report { line.add(report.rtpTimestamp, due) }
        // As a peer does.
        due += voice.slot.owesReports ? 50 : 1_000
      }
      if line.points.count > 2 { errors[number] = line.moment(of: sent) - Double(number * 20 + 10) }
    }
    #expect(abs(try some(errors[1_499])) < 2)
    #expect(abs(try some(errors[1_540])) > 100, "the line of the old clock")
    #expect(try (1_602..<1_700).allSatisfy { abs(try some(errors[$0])) < 5 })
  }
}
