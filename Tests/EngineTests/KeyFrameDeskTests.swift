import Media
import Model
import Peer
import Simulation
import Synchronization
import SyntheticPeers
import Testing

@testable import Engine

@Suite("Single key frames of tracks", .timeLimit(.minutes(2)))
struct KeyFrameDeskTests {
  private final class Answer: Sendable {
    private struct State {
      var isThere = false
      var frame: KeyFrame?
    }
    private let state = Mutex(State())

    func set(_ frame: KeyFrame?) { state.withLock { $0 = State(isThere: true, frame: frame) } }
    var isThere: Bool { state.withLock { $0.isThere } }
    var frame: KeyFrame? { state.withLock { $0.frame } }
  }

  private final class Said: Sendable {
    let layers = Mutex<[[TrackKey: TrackLayers]]>([[:], [:]])
  }

  private func picture(_ room: SimulationRoom) -> TrackKey { TrackKey(peer: room.keys[0], index: 1) }

  private func asked(_ room: SimulationRoom) -> UInt64 {
    room.server.reports(now: room.now).reduce(0) { $0 + $1.counters.media.keyFrameRequestsSent }
  }

  private func consumers(_ room: SimulationRoom) -> [Int] {
    room.server.reports(now: room.now).map(\.consumers)
  }

  /// Lets the room run while a key frame is waited for.
  private func take(
    _ room: SimulationRoom, _ track: TrackKey, asks: Bool, within patience: Duration = .seconds(60)
  ) async throws -> KeyFrame? {
    let (desk, answer) = (KeyFrameDesk(room.server.bridge), Answer())
    let task = Task { answer.set(await desk.keyFrame(of: track, asks: asks, within: patience)) }
    while !answer.isThere {
      room.run(for: .milliseconds(5))
      try await Task.sleep(for: .milliseconds(1))
    }
    await task.value
    // Its last word to the worker.
    room.run(for: .milliseconds(5))
    return answer.frame
  }

  @Test func `one that is kept is given without a word to its publisher, wherever that is`() async throws {
    let room = try SimulationRoom(workers: 2)
    // Another worker than its home has adopted it.
    try room.join(at: room.address(onWorker: 1, host: 20), home: 0, publishes: true)
    try room.join(at: room.address(onWorker: 1, host: 30), publishes: false)
    room.run(for: .seconds(2))
    let (before, served) = (asked(room), consumers(room))
    let found = try #require(try await take(room, picture(room), asks: true))
    #expect(found.format.codec == .vp8 && found.size == PictureSize(width: 640, height: 480))
    #expect(!found.bytes.isEmpty && found.arrival <= room.now)
    #expect(asked(room) == before && consumers(room) == served)
    #expect(room.journal.violations == [])
  }

  @Test func `where none is kept the publisher is asked, and the next is given`() async throws {
    let room = try SimulationRoom(workers: 2)
    try room.join(at: room.address(onWorker: 1, host: 20), home: 0, publishes: true)
    room.run(for: .seconds(2))
    let before = asked(room)
    #expect(try await take(room, picture(room), asks: true) != nil)
    #expect(asked(room) > before && consumers(room) == [0, 0])
  }

  @Test func `without leave to ask, nothing is asked and none is given`() async throws {
    let room = try SimulationRoom()
    try room.join(at: room.address(onWorker: 0, host: 20), publishes: true)
    room.run(for: .seconds(2))
    let before = asked(room)
    #expect(try await take(room, picture(room), asks: false, within: .milliseconds(300)) == nil)
    #expect(asked(room) == before && consumers(room) == [0])
  }

  @Test func `nothing is given of a track that is muted, or of what it showed before`() async throws {
    let room = try SimulationRoom()
    try room.join(at: room.address(onWorker: 0, host: 20), publishes: true)
    try room.join(at: room.address(onWorker: 0, host: 30), publishes: false)
    room.run(for: .seconds(2))
    room.server.bridge.post(.mute(picture(room), true))
    room.run(for: .milliseconds(100))
    #expect(try await take(room, picture(room), asks: true, within: .milliseconds(300)) == nil)
    let muted = room.now
    room.server.bridge.post(.mute(picture(room), false))
    room.run(for: .milliseconds(5))
    let found = try #require(try await take(room, picture(room), asks: true))
    #expect(found.arrival > muted)
  }

  @Test func `of sound, and of a track that isn't there, there is none, and no wait`() async throws {
    let room = try SimulationRoom(workers: 2)
    try room.join(at: room.address(onWorker: 0, host: 20), publishes: true)
    room.run(for: .seconds(1))
    for track in [
      TrackKey(peer: room.keys[0], index: 0), TrackKey(peer: room.keys[0], index: 9),
      TrackKey(peer: PeerKey(home: 1, serial: 99), index: 1),
    ] {
      #expect(try await take(room, track, asks: true) == nil)
    }
    #expect(consumers(room) == [0, 0])
  }

  @Test func `of a simulcast it is of the encoding that costs least`() throws {
    let room = try SimulationRoom()
    try room.join(at: room.address(onWorker: 0, host: 20), publishes: true) { peer in
      peer.layers = LayeredVideo(
        encodings: [
          .init(rid: "f", width: 640, height: 360, rate: 400_000),
          .init(rid: "q", width: 320, height: 180, rate: 100_000),
        ], structure: LayerStructure(codec: .vp8, temporalLayers: 1))
    }
    room.run(for: .seconds(3))
    let sink = TrackSink(picture(room), begins: .kept(asks: true), wake: {})
    room.server.bridge.add(sink, kind: .video, at: 0)
    room.run(for: .seconds(2))
    var encodings: Set<UInt8> = []
    var keyFrames = 0
    sink.take { _, info in
      encodings.insert(info.encoding)
      if info.flags.contains(.keyFrame) { keyFrames += 1 }
    }
    #expect(encodings == [1] && keyFrames > 0)
    room.server.bridge.remove(sink, at: 0)
    room.run(for: .milliseconds(5))
    #expect(consumers(room) == [0])
  }

  @Test func `what comes of published tracks is said by the worker that has the publisher alone`() throws {
    let room = try SimulationRoom(workers: 2)
    try room.join(at: room.address(onWorker: 1, host: 20), home: 0, publishes: true)
    try room.join(at: room.address(onWorker: 0, host: 30), home: 1, publishes: false)
    room.run(for: .seconds(3))
    var question = MediaQuestion(peers: [], tracks: [])
    question.published = [picture(room), TrackKey(peer: room.keys[0], index: 7)]
    let said = Said()
    for worker in 0..<2 {
      _ = room.server.bridge.explain(worker: worker, question) { answer in
        said.layers.withLock { $0[worker] = answer?.layers ?? [:] }
      }
    }
    room.run(for: .milliseconds(1))
    let layers = said.layers.withLock { $0 }
    #expect(layers[0].isEmpty && Array(layers[1].keys) == [picture(room)])
    #expect(layers[1][picture(room)]?.ranking == [0])
    #expect(layers[1][picture(room)]?.encodings.first?.rate ?? 0 > 0)
  }

  @Test func `a long question of published tracks goes in parts, each track once`() {
    let tracks = (0..<600).map { TrackKey(peer: PeerKey(home: 0, serial: UInt64($0)), index: 1) }
    var question = MediaQuestion(peers: [], tracks: [tracks[0]])
    question.published = tracks
    let parts = question.parts
    #expect(parts.flatMap(\.published) == tracks && parts.flatMap(\.tracks) == [tracks[0]])
    #expect(parts.count == 3 && parts.allSatisfy { $0.published.count <= MediaQuestion.mostPublished })
  }
}
