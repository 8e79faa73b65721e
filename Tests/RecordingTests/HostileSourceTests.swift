import Media
import Model
import Recording
import Testing

@Suite("Files of sources that do what none should", .timeLimit(.minutes(1)))
struct HostileSourceTests {
  typealias Sent = (FramePacket, encoding: Int, ClockMapping?)
  static let second = TrackRecorderTests.second
  static let terms = TrackRecorderTests.terms

  static func record(_ recorder: inout TrackRecorder, _ packets: [Sent]) throws -> RecordedFiles {
    try TrackRecorderTests.record(&recorder, packets)
  }

  @Test func `probes, which take numbers and have nothing, are not missing`() throws {
    var source = Source(.vp8)
    var path = Path(seed: 11)
    path.jitter = 5_000_000
    var packets: [Sent] = []
    for index in 0..<250 as Range<Int64> {
      let time = index * 40_000_000
      var sent = source.picture(at: time, isKeyFrame: index % 50 == 0)
      // Behind each picture, under numbers of its own.
      if index % 3 == 0 { sent += source.probes(3, at: time) }
      for packet in sent {
        if let packet = path.carry(packet) { packets.append((packet, 0, source.clock(at: time))) }
      }
    }
    var recorder = TrackRecorder(.video, terms: Self.terms)
    let files = try Self.record(&recorder, packets)
    #expect(try RecordedFiles.frames(files.files[0]).count == 250)
    #expect(recorder.counts == TrackCounts())
    #expect(files.keyFramesWanted.count <= 1)
  }

  @Test func `after another SSRC the clock of the old one is not believed`() throws {
    var source = Source(.vp8)
    var path = Path(seed: 4)
    var recorder = TrackRecorder(.video, terms: Self.terms)
    var packets = TrackRecorderTests.pictures(of: &source, over: &path, seconds: 5)
    let old = source.clock(at: 4 * Self.second)
    source.startOver(at: 5 * Self.second)
    // As if its timestamps went on where those of the old one were a second ago.
    source.firstTimestamp = source.firstTimestamp &+ old.timestamp
    for (packet, encoding, clock) in TrackRecorderTests.pictures(
      of: &source, over: &path, seconds: 10, from: 5 * Self.second)
    {
      // The first report of the new clock comes after three seconds.
      packets.append((packet, encoding, packet.arrival.nanoseconds < 8 * Self.second ? old : clock))
    }
    let files = try Self.record(&recorder, packets)
    #expect(files.files.map(\.start.number) == [1, 2])
    for file in files.files { #expect(TrackRecorderTests.error(try RecordedFiles.frames(file)) <= 2) }
    #expect(try RecordedFiles.frames(files.files[1]).count == 250)
  }

  @Test(arguments: [UInt32(1) << 31, 1 << 20, 0x7FFF_FFFF])
  func `pictures whose timestamps jump lie where they came, and the file is no longer than the recording`(
    jump: UInt32
  ) throws {
    var source = Source(.vp8)
    var packets: [Sent] = []
    for index in 0..<250 as Range<Int64> {
      let time = index * 40_000_000
      for var packet in source.picture(at: time, isKeyFrame: index % 10 == 0) {
        if index % 20 >= 10 { packet.timestamp &+= jump }
        packets.append((packet, 0, source.clock(at: 0)))
      }
    }
    var recorder = TrackRecorder(.video, terms: Self.terms)
    let file = try Self.record(&recorder, packets).files[0]
    let frames = try RecordedFiles.frames(file)
    #expect(frames.count == 250)
    #expect(try #require(file.end).duration <= 10 * Self.second)
    for (frame, next) in zip(frames, frames.dropFirst()) { #expect(next.nanoseconds > frame.nanoseconds) }
  }

  @Test func `a key frame that never comes is asked for again and again, and nothing is written or kept`()
    throws
  {
    var source = Source(.vp8)
    var path = Path(seed: 3)
    var packets: [Sent] = []
    for index in 1..<1_500 as Range<Int64> {
      for packet in source.picture(at: index * 40_000_000, isKeyFrame: false) {
        guard let packet = path.carry(packet) else { continue }
        packets.append((packet, 0, source.clock(at: index * 40_000_000)))
      }
    }
    var recorder = TrackRecorder(.video, terms: Self.terms)
    let files = try Self.record(&recorder, packets)
    #expect(files.files.isEmpty)
    // A minute, every two seconds.
    #expect((25...31).contains(files.keyFramesWanted.count))
    #expect(recorder.counts.framesSkipped > 1_000)
  }

  @Test func `a picture larger than any is left out, and what refers to it`() throws {
    var source = Source(.vp8)
    var packets: [Sent] = []
    for index in 0..<200 as Range<Int64> {
      let time = index * 40_000_000
      var sent = source.picture(at: time, isKeyFrame: index % 50 == 0)
      if index == 20 {
        // Nine megabytes before its end.
        var end = sent.removeLast()
        source.renumber(after: end.sequence - 1)
        sent += source.middle(150, size: 60_000, at: time)
        end.sequence = sent[sent.count - 1].sequence + 1
        source.renumber(after: end.sequence)
        sent.append(end)
      }
      for packet in sent { packets.append((packet, 0, source.clock(at: time))) }
    }
    var recorder = TrackRecorder(.video, terms: Self.terms)
    let files = try Self.record(&recorder, packets)
    let frames = try RecordedFiles.frames(files.files[0])
    #expect(frames.count == 170)
    #expect(frames.allSatisfy { $0.bytes.count < 100 })
    #expect(!files.keyFramesWanted.isEmpty)
  }

  @Test func `a day without a sound is a gap in time, and no work`() throws {
    var source = Source(.opus)
    var path = Path(seed: 4)
    var packets = TrackRecorderTests.minute(of: &source, over: &path, seconds: 2)
    source.skip(1_000)
    let day = 86_400 * Self.second
    var recorder = TrackRecorder(.audio, terms: Self.terms)
    var files = RecordedFiles()
    for (packet, _, clock) in packets { recorder.take(packet, clock: clock) }
    try files.take(recorder.poll(now: Instant(nanoseconds: 3 * Self.second)))
    packets = TrackRecorderTests.minute(of: &source, over: &path, seconds: 2, from: day)
    for (packet, _, clock) in packets { recorder.take(packet, clock: clock) }
    try files.take(recorder.finish(now: Instant(nanoseconds: day + 3 * Self.second)))
    let frames = try RecordedFiles.frames(files.files[0])
    #expect(frames.count == 200 && TrackRecorderTests.error(frames) <= 21)
    #expect(files.files[0].bytes.count < 10_000)
  }

  @Test func `a codec that changes with every packet makes a file of each, which is whole`() throws {
    var (opus, other) = (Source(.opus), Source(CodecFormat(.pcmu)))
    var packets: [Sent] = []
    for index in 0..<300 as Range<Int64> {
      let time = index * 20_000_000
      var packet = index % 2 == 0 ? opus.sound(at: time) : other.sound(at: time)
      if index % 2 == 1 { packet.payload = [UInt8](repeating: 0x7F, count: 160) }
      packet.sequence = index
      packets.append((packet, 0, index % 2 == 0 ? opus.clock(at: time) : other.clock(at: time)))
    }
    var recorder = TrackRecorder(.audio, terms: Self.terms)
    let files = try Self.record(&recorder, packets)
    #expect(files.files.count == 300 && files.files.map(\.start.number) == Array(1...300))
    for file in files.files {
      #expect(file.end?.frames == 1)
      #expect(try RecordedFiles.frames(file).count == 1)
    }
  }

  @Test func `a larger encoding whose packets take longer is written all the same, each picture in its time`()
    throws
  {
    var (small, large) = (Source(.vp8), Source(.vp8))
    large.ssrc = 900
    var (fast, slow) = (Path(seed: 6), Path(seed: 7))
    (fast.jitter, slow.delay, slow.jitter) = (5_000_000, 240_000_000, 100_000_000)
    var packets = TrackRecorderTests.pictures(
      of: &small, over: &fast, seconds: 20, keyEvery: 25, width: 32, encoding: 1)
    packets += TrackRecorderTests.pictures(
      of: &large, over: &slow, seconds: 17, from: 3 * Self.second, keyEvery: 25, width: 640, encoding: 0)
    var recorder = TrackRecorder(.video, encodings: 2, terms: Self.terms)
    let file = try Self.record(&recorder, packets).files[0]
    let frames = try RecordedFiles.frames(file)
    #expect(TrackRecorderTests.error(frames) <= 2)
    #expect(frames.count == 500 && recorder.counts.switches == 1)
    let widths = frames.filter(\.isKeyFrame).map { $0.bytes[7] }
    #expect(widths == [0, 0, 0] + Array(repeating: 2, count: 17))
  }

  @Test(arguments: [
    ("vp8", CodecFormat.vp8), ("vp9", CodecFormat(.vp9)), ("av1", CodecFormat(.av1)),
    ("h264", .h264(.constrainedBaseline, mode: 1)!), ("h265", CodecFormat(.h265)), ("opus", .opus),
    ("opus", CodecFormat(.red)),
  ])
  func `packets of any bytes make files that can be read, or none`(name: String, format: CodecFormat) throws {
    let whole =
      name == "av1"
      ? try CodecFilesTests.packets(dividing: "av1.ivf", format) : try CodecFilesTests.packets(name, format)
    let kind = format.codec.kind
    for seed in 1...16 as ClosedRange<UInt64> {
      var random = RandomSource.seeded(state: seed)
      var recorder = TrackRecorder(
        kind, encodings: kind == .video ? 2 : 1, terms: seed % 2 == 0 ? Self.terms : TrackRecorderTests.simple
      )
      var files = RecordedFiles()
      for place in 0..<200 {
        var packet = whole[place % whole.count]
        packet.sequence = Int64(place) + Int64.random(in: -2...2, using: &random)
        packet.arrival = Instant(nanoseconds: Int64(place) * 30_000_000)
        if format.codec == .red { packet.primaryFormat = .opus }
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
          packet.payload = Array(
            packet.payload.prefix(Int.random(in: 0...packet.payload.count, using: &random)))
        case 1, 2:
          for _ in 0..<4 where !packet.payload.isEmpty {
            let at = Int.random(in: 0..<min(48, packet.payload.count), using: &random)
            packet.payload[at] = UInt8.random(in: 0...255, using: &random)
          }
        case 3:
          packet.payload = (0..<Int.random(in: 0...40, using: &random)).map { _ in
            UInt8.random(in: 0...255, using: &random)
          }
        case 4:
          packet.timestamp = UInt32.random(in: 0...UInt32.max, using: &random)
          packet.restart = UInt8.random(in: 0...1, using: &random)
        default: break
        }
        let clock = ClockMapping(
          timestamp: packet.timestamp, ntp: Source.epoch.ntp(at: packet.arrival),
          rate: format.codec.clockRate,
          measured: UInt32.random(in: 0...200_000, using: &random), isReported: Bool.random(using: &random))
        recorder.take(packet, encoding: Int.random(in: 0...2, using: &random), clock: clock)
        try files.take(recorder.poll(now: packet.arrival))
      }
      try files.take(recorder.finish(now: Instant(nanoseconds: 7_000_000_000)))
      for file in files.files {
        let end = try #require(file.end)
        #expect(UInt64(try RecordedFiles.frames(file).count) == end.frames)
        #expect(end.duration <= 20 * Self.second)
      }
    }
  }
}
