import Media
import Model
import Peer
import Polling
import Simulation
import SyntheticPeers
import Testing
import Wire

@testable import Engine

@Suite("A sink gets a track as a slot does", .timeLimit(.minutes(2)))
struct TrackSinkTests {
  /// What a sink has taken.
  final class Recorder {
    let sink: TrackSink
    private(set) var packets: [(bytes: [UInt8], info: PacketInfo)] = []

    init(_ track: TrackKey, ringSize: Int = TrackSink.ringSize) {
      sink = TrackSink(track, ringSize: ringSize, wake: {})
    }

    func take() { sink.take { packets.append((Array($0), $1)) } }
    var keyFrames: Int { packets.count { $0.info.flags.contains(.keyFrame) } }
  }

  struct Place: CustomTestStringConvertible, Sendable {
    var worker: Int
    var testDescription: String { worker == 0 ? "at the publisher's worker" : "at another worker" }
  }
  static let places = [Place(worker: 0), Place(worker: 1)]

  private func room() throws -> (SimulationRoom, video: TrackKey) {
    let room = try SimulationRoom(workers: 2)
    try room.join(at: room.address(onWorker: 0, host: 20), publishes: true)
    room.run(for: .seconds(2))
    return (room, TrackKey(peer: room.keys[0], index: 1))
  }

  private func post(_ message: TrackMessage, _ room: SimulationRoom, _ place: Place) {
    _ = room.server.bridge.exchange.mailboxes[place.worker].post(.track(message))
  }

  private func counter(_ room: SimulationRoom, _ value: (WorkerReport) -> UInt64) -> UInt64 {
    room.server.reports(now: room.now).reduce(0) { $0 + value($1) }
  }

  @Test(arguments: places)
  func `plain RTP comes with its info, without a gap, beside what a subscriber gets`(place: Place) throws {
    let (room, video) = try room()
    let subscriber = try room.join(at: room.address(onWorker: 1, host: 30), publishes: false)
    let recorder = Recorder(video)
    post(.sinkAdded(recorder.sink, kind: .video), room, place)
    room.run(for: .seconds(3))
    recorder.take()
    #expect(recorder.packets.count > 60 && recorder.keyFrames > 0)
    for (bytes, info) in recorder.packets {
      let header = try bytes.withUnsafeBytes { try RTPHeader($0) }
      #expect(header.sequence == UInt16(truncatingIfNeeded: info.extendedSequence))
      #expect(header.timestamp == info.timestamp && header.headerSize == Int(info.payloadOffset))
      #expect(
        Int(info.payloadOffset) + Int(info.payloadSize) == bytes.count && info.format == CodecFormat(.vp8))
    }
    let numbers = recorder.packets.map(\.info.extendedSequence)
    #expect(Set(numbers).count == Int((numbers.max() ?? 0) - (numbers.min() ?? 0)) + 1)
    #expect(subscriber.packetsReceived(of: 0) > 130 && room.journal.violations == [])
  }

  @Test(arguments: places)
  func `a key frame that it asks for comes`(place: Place) throws {
    let (room, video) = try room()
    let recorder = Recorder(video)
    post(.sinkAdded(recorder.sink, kind: .video), room, place)
    room.run(for: .seconds(2))
    recorder.take()
    for _ in 0..<3 {
      let (frames, asked) = (recorder.keyFrames, counter(room) { $0.counters.media.keyFrameRequestsSent })
      post(.wanted(.keyFrame, by: recorder.sink), room, place)
      room.run(for: .milliseconds(1_500))
      recorder.take()
      #expect(recorder.keyFrames > frames)
      #expect(counter(room) { $0.counters.media.keyFrameRequestsSent } > asked)
    }
  }

  @Test(arguments: places)
  func `a packet that it misses comes again, one that is no longer kept doesn't`(place: Place) throws {
    let (room, video) = try room()
    let recorder = Recorder(video)
    post(.sinkAdded(recorder.sink, kind: .video), room, place)
    room.run(for: .seconds(1))
    recorder.take()
    let wanted = recorder.packets[recorder.packets.count - 5]
    let count = recorder.packets.count
    post(.wanted(.packet(sequence: wanted.info.extendedSequence), by: recorder.sink), room, place)
    post(
      .wanted(.packet(sequence: wanted.info.extendedSequence - 100_000), by: recorder.sink), room,
      place)
    _ = room.server.run(now: room.now)
    recorder.take()
    #expect(recorder.packets.count == count + 1)
    #expect(recorder.packets.last?.bytes == wanted.bytes)
    #expect(counter(room, \.relaying.historyMissed) == 1)
  }

  @Test(arguments: places)
  func `a sink knows where its track's timestamps stand, from reports of its publisher`(place: Place) throws {
    let (room, video) = try room()
    let recorder = Recorder(video)
    #expect(recorder.sink.clock == nil)
    post(.sinkAdded(recorder.sink, kind: .video), room, place)
    room.run(for: .seconds(1))
    let early = try #require(recorder.sink.clock)
    #expect(early.rate == 90_000)
    room.run(for: .seconds(8))
    recorder.take()
    let known = try #require(recorder.sink.clock)
    #expect(known.isReported)
    // A packet was taken before it came, and not long before.
    let last = try #require(recorder.packets.last?.info)
    let epoch = Epoch(ntpAtZero: NTPTime(unixNanoseconds: 0))
    let journey = epoch.ntp(at: last.arrival).nanoseconds(since: known.ntp(at: last.timestamp))
    #expect((-20_000_000...400_000_000).contains(journey))
    #expect(recorder.sink.dropped == 0)
  }

  @Test func `a sink that doesn't take loses its own packets and no others`() throws {
    let (room, video) = try room()
    let subscriber = try room.join(at: room.address(onWorker: 0, host: 30), publishes: false)
    let slow = Recorder(video, ringSize: 4_096)
    let fast = Recorder(video)
    for recorder in [slow, fast] {
      post(.sinkAdded(recorder.sink, kind: .video), room, Self.places[0])
    }
    room.run(for: .seconds(3))
    for recorder in [slow, fast] { recorder.take() }
    #expect(slow.packets.count < 20 && fast.packets.count > 60)
    #expect(counter(room, \.relaying.sinkDropped) == UInt64(fast.packets.count - slow.packets.count))
    #expect(slow.sink.dropped == UInt64(fast.packets.count - slow.packets.count) && fast.sink.dropped == 0)
    #expect(subscriber.packetsReceived(of: 0) > 130 && room.journal.violations == [])
  }

  @Test(arguments: places)
  func `it ends with its track, or before it, and leaves nothing`(place: Place) throws {
    let (room, video) = try room()
    let (first, second) = (Recorder(video), Recorder(video))
    for recorder in [first, second, first] {
      post(.sinkAdded(recorder.sink, kind: .video), room, place)
    }
    room.run(for: .milliseconds(500))
    #expect(room.server.reports(now: room.now)[place.worker].consumers == 2)
    post(.sinkRemoved(first.sink), room, place)
    post(.sinkRemoved(first.sink), room, place)
    post(.wanted(.keyFrame, by: first.sink), room, place)
    room.run(for: .milliseconds(500))
    first.take()
    let count = first.packets.count
    #expect(count > 0 && room.server.reports(now: room.now)[place.worker].consumers == 1)
    room.server.bridge.post(.close(room.keys[0]))
    room.run(for: .milliseconds(500))
    first.take()
    #expect(first.packets.count == count && !first.sink.isEnded && second.sink.isEnded)
    for report in room.server.reports(now: room.now) { #expect(report.tracks == 0 && report.consumers == 0) }
  }

  @Test func `it ends with its worker`() throws {
    let (room, video) = try room()
    let recorder = Recorder(video)
    post(.sinkAdded(recorder.sink, kind: .video), room, Self.places[0])
    room.run(for: .milliseconds(100))
    #expect(!recorder.sink.isEnded && room.server.rebuildWorkers(now: room.now) == 2)
    #expect(recorder.sink.isEnded && room.server.reports(now: room.now)[0].consumers == 0)
  }

  @Test func `one of a track that is over, or of the other kind, ends at once`() throws {
    let (room, video) = try room()
    let wrong = Recorder(video)
    post(.sinkAdded(wrong.sink, kind: .audio), room, Self.places[0])
    let gone = Recorder(TrackKey(peer: PeerKey(home: 0, serial: 99), index: 0))
    for place in Self.places { post(.sinkAdded(gone.sink, kind: .video), room, place) }
    room.run(for: .milliseconds(100))
    #expect(wrong.sink.isEnded && gone.sink.isEnded)
    for report in room.server.reports(now: room.now) { #expect(report.consumers == 0) }
  }
}
