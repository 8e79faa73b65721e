import Media
import Model
import Recording
import Testing

@Suite("Files of a track", .timeLimit(.minutes(2)))
struct TrackRecorderTests {
  static let second: Int64 = 1_000_000_000
  static let terms = TrackRecorder.Terms(epoch: Source.epoch, zero: Source.epoch.ntpAtZero)
  static let simple = TrackRecorder.Terms(epoch: Source.epoch, zero: Source.epoch.ntpAtZero, form: .simple)

  /// Gives packets in the order in which they come, and asks ten times a second what is to be written.
  static func record(
    _ recorder: inout TrackRecorder, _ packets: [(FramePacket, encoding: Int, ClockMapping?)]
  ) throws -> RecordedFiles {
    var files = RecordedFiles()
    var next: Int64 = 0
    for (packet, encoding, clock) in packets.sorted(by: { $0.0.arrival < $1.0.arrival }) {
      while next <= packet.arrival.nanoseconds {
        try files.take(recorder.poll(now: Instant(nanoseconds: next)))
        next += 100_000_000
      }
      recorder.take(packet, encoding: encoding, clock: clock)
    }
    for _ in 0..<30 {
      try files.take(recorder.poll(now: Instant(nanoseconds: next)))
      next += 100_000_000
    }
    try files.take(recorder.finish(now: Instant(nanoseconds: next)))
    return files
  }

  /// By how much frames are played off the moment at which they were taken, at most, in milliseconds.
  static func error(_ frames: [RecordedFiles.Frame]) -> Double {
    frames.compactMap { frame in
      Source.time(of: frame.bytes).map { Double((frame.nanoseconds - $0).magnitude) / 1e6 }
    }.max() ?? 0
  }

  /// A minute of sound, with the losses and the jitter of a bad path.
  static func minute(
    of source: inout Source, over path: inout Path, seconds: Int64 = 60, from start: Int64 = 0,
    reportedAfter: Int64 = 0
  ) -> [(FramePacket, encoding: Int, ClockMapping?)] {
    stride(from: start, to: start + seconds * second, by: Int(source.packetTime)).compactMap { time in
      guard let packet = path.carry(source.sound(at: time)) else { return nil }
      let isReported = packet.arrival.nanoseconds - start >= reportedAfter
      return (packet, 0, source.clock(at: time, isReported: isReported))
    }
  }

  static func pictures(
    of source: inout Source, over path: inout Path, seconds: Int64 = 60, from start: Int64 = 0,
    keyEvery: Int = 50,
    width: UInt16 = 64, encoding: Int = 0
  ) -> [(FramePacket, encoding: Int, ClockMapping?)] {
    var packets: [(FramePacket, encoding: Int, ClockMapping?)] = []
    for (index, time) in stride(from: start, to: start + seconds * second, by: 40_000_000).enumerated() {
      for packet in source.picture(at: time, isKeyFrame: index % keyEvery == 0, width: width) {
        guard let packet = path.carry(packet) else { continue }
        packets.append((packet, encoding, source.clock(at: time)))
      }
    }
    return packets
  }

  // MARK: - Time

  @Test(arguments: [RecordingForm.webm, .simple], [-0.03, 0, 0.0001, 0.03])
  func `sound is played when it was taken, after a minute with 5 % loss and any clock`(
    form: RecordingForm, drift: Double
  ) throws {
    var source = Source(.opus)
    source.drift = drift
    var path = Path(seed: 7)
    path.loss = 0.05
    var recorder = TrackRecorder(.audio, terms: form == .webm ? Self.terms : Self.simple, origin: 0)
    let packets = Self.minute(of: &source, over: &path)
    let files = try Self.record(&recorder, packets)
    let file = try #require(files.files.first)
    #expect(files.files.count == 1 && file.start.suffix == (form == .webm ? "webm" : "ogg"))
    let frames = try RecordedFiles.frames(file)
    #expect(Self.error(frames) <= 21)
    // What was lost is filled: there is sound for the whole minute.
    let end = try #require(file.end)
    #expect((end.duration - 60 * Self.second).magnitude < 200_000_000)
    let sent = Int(source.sequence - 65_530)
    #expect(sent - packets.count > 100)
    let kept = frames.count { Source.time(of: $0.bytes) != nil }
    // A clock that runs fast has more sound than there is time for; what was lost leaves some.
    #expect(packets.count - kept == Int(end.leftOut) / 20)
    #expect(form == .simple && drift > 0.01 ? end.leftOut < 600 : end.leftOut == 0)
    for (frame, next) in zip(frames, frames.dropFirst()) { #expect(next.nanoseconds >= frame.nanoseconds) }
    // Those that were the last aren't missed.
    #expect((sent - packets.count - 5...sent - packets.count).contains(Int(recorder.counts.packetsLost)))
  }

  @Test(arguments: [RecordingForm.webm, .simple])
  func `of a clock that runs fast a file without times leaves out what there is no time for`(
    form: RecordingForm
  ) throws {
    var source = Source(.opus)
    source.drift = 0.03
    var path = Path(seed: 7)
    var recorder = TrackRecorder(.audio, terms: form == .webm ? Self.terms : Self.simple, origin: 0)
    let packets = Self.minute(of: &source, over: &path)
    let file = try #require(try Self.record(&recorder, packets).files.first)
    let frames = try RecordedFiles.frames(file)
    #expect(Self.error(frames) <= 21)
    let end = try #require(file.end)
    #expect((end.duration - 60 * Self.second).magnitude < 200_000_000)
    let leftOut = packets.count - frames.count { Source.time(of: $0.bytes) != nil }
    #expect(end.leftOut == UInt64(leftOut) * 20 && end.filled == 0)
    // 3 % of a minute.
    #expect(form == .webm ? leftOut == 0 : (85...92).contains(leftOut))
  }

  @Test(arguments: [RecordingForm.webm, .simple])
  func `a picture is shown when it was taken, and none that refers to a lost one`(form: RecordingForm) throws
  {
    var source = Source(.vp8)
    source.drift = 0.0001
    var path = Path(seed: 8)
    path.loss = 0.05
    var recorder = TrackRecorder(.video, terms: form == .webm ? Self.terms : Self.simple)
    let files = try Self.record(&recorder, Self.pictures(of: &source, over: &path))
    let file = try #require(files.files.first)
    #expect(file.start.suffix == (form == .webm ? "webm" : "ivf"))
    #expect(file.start.size == PictureSize(width: 64, height: 48))
    let frames = try RecordedFiles.frames(file)
    #expect(Self.error(frames) <= 2)
    // Each frame is a key frame, or the one before it in the source is the one before it in the file.
    for (frame, next) in zip(frames, frames.dropFirst()) where !next.isKeyFrame {
      #expect(Source.time(of: next.bytes)! - Source.time(of: frame.bytes)! == 40_000_000)
    }
    #expect(frames.first?.isKeyFrame == true && frames.count > 200)
    let counts = recorder.counts
    #expect(counts.packetsLost > 50 && counts.framesIncomplete > 20 && counts.framesSkipped > 20)
    #expect(!files.keyFramesWanted.isEmpty && files.keyFramesWanted.count <= 31)
  }

  @Test func `what is sent again within its time is as if it had never been lost`() throws {
    var source = Source(.vp8)
    var path = Path(seed: 9)
    var recorder = TrackRecorder(.video, terms: Self.terms)
    // Before the first packet that comes nothing is missed.
    var packets = Self.pictures(of: &source, over: &path, seconds: 1)
    (path.loss, path.recovered) = (0.1, 1)
    packets += Self.pictures(of: &source, over: &path, seconds: 19, from: Self.second)
    let files = try Self.record(&recorder, packets)
    #expect(try RecordedFiles.frames(files.files[0]).count == 500)
    #expect(recorder.counts == TrackCounts())
  }

  @Test func `frames wait for the first report, and then have the time that it gives them`() throws {
    var source = Source(.opus)
    var path = Path(seed: 3)
    var recorder = TrackRecorder(.audio, terms: Self.terms)
    // Until a report comes their arrival is all that is known, half a second off.
    let packets = Self.minute(of: &source, over: &path, seconds: 10, reportedAfter: 4 * Self.second).map {
      packet, encoding, clock in
      var guessed = clock
      if clock?.isReported == false {
        guessed?.ntp = Source.epoch.ntp(at: packet.arrival + .milliseconds(500)).rawValue
      }
      return (packet, encoding: encoding, guessed)
    }
    let files = try Self.record(&recorder, packets)
    #expect(Self.error(try RecordedFiles.frames(files.files[0])) <= 21)
  }

  @Test func `without any report frames have the times of their arrival, after some seconds`() throws {
    var source = Source(.opus)
    var path = Path(seed: 3)
    path.jitter = 0
    var recorder = TrackRecorder(.audio, terms: Self.terms)
    let packets = Self.minute(of: &source, over: &path, seconds: 10).map {
      ($0.0, encoding: 0, nil as ClockMapping?)
    }
    let files = try Self.record(&recorder, packets)
    let frames = try RecordedFiles.frames(files.files[0])
    #expect(frames.count >= 500 && Self.error(frames) <= 61)
  }

  @Test func `timestamps that jump make no file longer than the recording`() throws {
    var source = Source(.opus)
    var packets: [(FramePacket, encoding: Int, ClockMapping?)] = []
    for index in 0..<500 as Range<Int64> {
      var packet = source.sound(at: index * 20_000_000)
      if index % 3 == 1 { packet.timestamp &+= 0x4000_0000 }
      if index % 3 == 2 { packet.timestamp &-= 0x3000_0000 }
      packets.append((packet, 0, source.clock(at: 0)))
    }
    for form in [Self.terms, Self.simple] {
      var recorder = TrackRecorder(.audio, terms: form)
      let file = try Self.record(&recorder, packets).files[0]
      #expect(try #require(file.end).duration <= 10 * Self.second + 40_000_000)
      #expect(file.bytes.count < 40_000)
    }
  }

  /// Each within what is believed of a sender's clock, which may be ahead of a packet's arrival and behind it.
  @Test(arguments: [CodecFormat(.opus), CodecFormat(.pcmu)], [Int64(100), 450, 900])
  func `timestamps that go to and fro fill each moment once`(format: CodecFormat, swing: Int64) throws {
    var source = Source(format)
    let (rate, times) = (
      Int64(format.codec.clockRate), stride(from: Int64(0), to: 10 * Self.second, by: 20_000_000)
    )
    var packets: [(FramePacket, encoding: Int, ClockMapping?)] = []
    for (index, time) in times.enumerated() {
      var packet = format.codec == .opus ? source.sound(at: time) : source.middle(1, size: 9, at: time)[0]
      packet.timestamp &+= UInt32(truncatingIfNeeded: (index % 2 == 0 ? -1 : 1) * swing * rate / 1_000)
      packets.append((packet, 0, source.clock(at: time)))
    }
    for form in [Self.terms, Self.simple] {
      var recorder = TrackRecorder(.audio, terms: form)
      let file = try Self.record(&recorder, packets).files[0]
      #expect(try #require(file.end).duration <= 11 * Self.second)
      // What was sent, a byte for each sample of 11 seconds, and 12 bytes for each packet that is there or filled in.
      #expect(file.bytes.count < 500 * 20 + 11 * 8_000 + 1_100 * 12)
    }
  }

  @Test func `files that begin together begin at the same moment, silent and with the first picture`() throws
  {
    let origin = 100 * Self.second
    var (voice, camera) = (Source(.opus), Source(.vp8))
    var path = Path(seed: 5)
    var sound = TrackRecorder(.audio, terms: Self.terms, origin: origin)
    var picture = TrackRecorder(.video, terms: Self.terms, origin: origin)
    let heard = try Self.record(
      &sound, Self.minute(of: &voice, over: &path, seconds: 5, from: origin + 300_000_000)
    ).files[0]
    let seen = try Self.record(
      &picture, Self.pictures(of: &camera, over: &path, seconds: 5, from: origin + 1_700_000_000)
    ).files[0]
    #expect(heard.start.start == origin && seen.start.start == origin)
    let frames = try RecordedFiles.frames(seen)
    #expect(frames[0].nanoseconds == origin && frames[0].bytes == frames[1].bytes)
    #expect(Self.error(Array(frames.dropFirst())) <= 2)
    let packets = try RecordedFiles.frames(heard)
    #expect(packets[0].nanoseconds - origin < 1_000_000 && Source.time(of: packets[0].bytes) == nil)
    #expect(Self.error(packets) <= 21)
    // One that comes a minute later has a file that begins with it.
    var late = TrackRecorder(.audio, terms: Self.terms, origin: origin)
    let file = try Self.record(
      &late, Self.minute(of: &voice, over: &path, seconds: 2, from: origin + 60 * Self.second)
    ).files[0]
    #expect((file.start.start - origin - 60 * Self.second).magnitude < 50_000_000)
  }

  // MARK: - Breaks

  @Test(arguments: [RecordingForm.webm, .simple])
  func `a muted stretch is a gap in time, and shifts nothing behind it`(form: RecordingForm) throws {
    var source = Source(.opus)
    var path = Path(seed: 4)
    var recorder = TrackRecorder(.audio, terms: form == .webm ? Self.terms : Self.simple)
    var packets = Self.minute(of: &source, over: &path, seconds: 5)
    source.skip(1_500)
    packets += Self.minute(of: &source, over: &path, seconds: 5, from: 35 * Self.second)
    let files = try Self.record(&recorder, packets)
    #expect(files.files.count == 1)
    let frames = try RecordedFiles.frames(files.files[0])
    #expect(Self.error(frames) <= 21)
    #expect((29_990...30_010).contains(try #require(files.files[0].end).filled))
    #expect(recorder.counts.packetsLost == 0)
  }

  @Test func `a source that begins again goes on in another file, which says when it begins`() throws {
    var source = Source(.vp8)
    var path = Path(seed: 4)
    var recorder = TrackRecorder(.video, terms: Self.terms)
    var packets = Self.pictures(of: &source, over: &path, seconds: 5)
    source.startOver(at: 20 * Self.second)
    packets += Self.pictures(of: &source, over: &path, seconds: 5, from: 20 * Self.second)
    let files = try Self.record(&recorder, packets)
    #expect(files.files.map(\.start.number) == [1, 2])
    #expect(files.files.map { ($0.start.start + 1_000_000) / Self.second } == [0, 20])
    for file in files.files {
      #expect(Self.error(try RecordedFiles.frames(file)) <= 2)
      #expect(file.end != nil)
    }
  }

  @Test func `another codec goes on in another file`() throws {
    var (first, second) = (Source(.opus), Source(CodecFormat(.pcmu)))
    var path = Path(seed: 4)
    var recorder = TrackRecorder(.audio, terms: Self.terms)
    var packets = Self.minute(of: &first, over: &path, seconds: 3)
    for time in stride(from: 3 * Self.second, to: 6 * Self.second, by: 20_000_000) {
      var packet = second.sound(at: time)
      packet.payload = [UInt8](repeating: 0x7F, count: 160)
      packet.sequence += 1_000_000
      packet.restart = 1
      packets.append((packet, 0, second.clock(at: time)))
    }
    let files = try Self.record(&recorder, packets)
    #expect(files.files.map(\.start.suffix) == ["webm", "mkv"])
    #expect((files.files[1].start.start - 3 * Self.second).magnitude < 100_000_000)
    #expect(try RecordedFiles.frames(files.files[1]).count == 150)
  }

  // MARK: - Simulcast

  @Test func `the largest encoding that flows is written, and changes at key frames alone`() throws {
    var (small, large) = (Source(.vp8), Source(.vp8))
    large.ssrc = 900
    var path = Path(seed: 6)
    // The large one begins after 3 s, is silent from 10 to 20 s.
    var packets = Self.pictures(of: &small, over: &path, seconds: 30, keyEvery: 25, width: 32, encoding: 1)
    packets += Self.pictures(
      of: &large, over: &path, seconds: 7, from: 3 * Self.second, keyEvery: 25, width: 640, encoding: 0)
    large.skip(500)
    packets += Self.pictures(
      of: &large, over: &path, seconds: 10, from: 20 * Self.second, keyEvery: 25, width: 640, encoding: 0)
    var recorder = TrackRecorder(.video, encodings: 3, terms: Self.terms)
    let files = try Self.record(&recorder, packets)
    #expect(files.files.count == 1)
    let frames = try RecordedFiles.frames(files.files[0])
    #expect(Self.error(frames) <= 45)
    let widths = frames.filter(\.isKeyFrame).map { ($0.nanoseconds / Self.second, $0.bytes[7]) }
    // The upper byte of 640 is 2.
    #expect(widths.first?.1 == 0)
    #expect(widths.filter { (4...9).contains($0.0) }.allSatisfy { $0.1 == 2 })
    #expect(widths.filter { (13...19).contains($0.0) }.allSatisfy { $0.1 == 0 })
    #expect(widths.filter { $0.0 >= 21 }.allSatisfy { $0.1 == 2 })
    #expect(recorder.counts.switches == 3)
    // No picture is of another encoding than the key frame before it, which their times would show.
    for (frame, next) in zip(frames, frames.dropFirst()) where !next.isKeyFrame {
      #expect(Source.time(of: next.bytes)! - Source.time(of: frame.bytes)! == 40_000_000)
    }
  }
}
