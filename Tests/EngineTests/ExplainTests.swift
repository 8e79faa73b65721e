import Congestion
import Model
import Negotiation
import Peer
import Simulation
import SyntheticPeers
import Testing

@testable import Engine

@Suite("What workers say of why subscribers get what they get", .timeLimit(.minutes(2)))
struct ExplainTests {
  private func explain(_ room: SimulationRoom, _ question: MediaQuestion) -> WorkerExplanation {
    room.explain(question)
  }

  @Test func `a subscriber's path and slots are explained by the worker that has it, and by no other`() throws
  {
    let room = try SimulationRoom(workers: 2)
    try room.join(at: room.address(onWorker: 1, host: 1), home: 0, publishes: true)
    try room.join(at: room.address(onWorker: 0, host: 2), home: 1, publishes: false)
    room.run(for: .seconds(4))
    let picture = TrackKey(peer: room.keys[0], index: 1)
    let found = explain(room, MediaQuestion(peers: room.keys, tracks: [picture]))
    #expect(Set(found.peers.map(\.peer)) == Set(room.keys) && found.peers.count == 2)
    let subscriber = try #require(found.peers.first { $0.peer == room.keys[1] })
    #expect(subscriber.takesMedia && subscriber.slots.count == 2)
    let slot = try #require(subscriber.slots.first { $0.track == picture })
    let sent = try #require(slot.sent)
    #expect(slot.best == sent && slot.reason == nil && !slot.isPaused && !slot.needsKeyFrame)
    let bitrate = try #require(slot.bitrate)
    #expect(bitrate > sent.rate * 0.7 && bitrate < sent.rate * 1.3, "\(bitrate) of \(sent.rate)")
    #expect(subscriber.wanted >= sent.rate && slot.loss == 0)
    let publisher = try #require(found.peers.first { $0.peer == room.keys[0] })
    #expect(publisher.slots.isEmpty)
  }

  /// The cable takes a millisecond each way, and loses each twentieth packet to the subscriber.
  @Test(arguments: [true, false])
  func `what arrives, what is lost and the round trip are known by a subscriber's reports`(
    tellsArrivals: Bool
  ) throws {
    let room = try SimulationRoom(policy: NegotiationPolicy(usesTransportFeedback: true))
    try room.join(at: room.address(onWorker: 0, host: 1), publishes: true)
    let viewer = room.address(onWorker: 0, host: 2)
    try room.join(at: viewer, publishes: false) { $0.dialect.tellsArrivals = tellsArrivals }
    var random = RandomSource.seeded(state: 11)
    room.passes = { datagram in
      guard datagram.isMedia, !datagram.toServer, datagram.path.local == viewer else { return true }
      return random.next() % 20 != 0
    }
    room.run(for: .seconds(5))
    let sound = TrackKey(peer: room.keys[0], index: 0)
    var lost: [Double] = []
    for _ in 0..<6 {
      room.run(for: .seconds(1))
      let found = explain(room, MediaQuestion(peers: [room.keys[1]], tracks: [])).peers
      let path = try #require(found.first)
      let slot = try #require(path.slots.first { $0.track == sound })
      lost.append(slot.loss)
      let trip = try #require(slot.roundTrip)
      for known in [trip, path.roundTrip] {
        #expect(known >= .milliseconds(1) && known < .milliseconds(20), "\(known)")
      }
      // The rest is known of those alone who tell when each packet arrived.
      #expect((path.acknowledged != nil) == tellsArrivals)
      guard let arrives = path.acknowledged else { continue }
      let sent = path.slots.compactMap(\.bitrate).reduce(0, +)
      #expect(arrives > 0.5 * sent && arrives < 3 * sent, "\(arrives) of \(sent)")
      #expect((0.002...0.2).contains(path.loss), "\(path.loss)")
    }
    // Of sound nothing is sent again.
    #expect((0.02...0.12).contains(lost.reduce(0, +) / 6), "\(lost)")
  }

  @Test func `the last key frame of a track is known to every worker that has it`() throws {
    let room = try SimulationRoom(workers: 2)
    try room.join(at: room.address(onWorker: 1, host: 1), home: 1, publishes: true)
    try room.join(at: room.address(onWorker: 0, host: 2), home: 0, publishes: false)
    room.run(for: .seconds(3))
    let picture = TrackKey(peer: room.keys[0], index: 1)
    let found = explain(room, MediaQuestion(peers: [], tracks: [picture]))
    #expect(found.peers.isEmpty && found.feeds.count == 2, "each worker has a feed of the track")
    #expect(found.feeds.allSatisfy { $0.track == picture && $0.keyFrame != nil })
    #expect(found.feeds.allSatisfy { $0.request.map { $0.at <= room.now } ?? true })
  }

  /// Of all workers the one that knows.
  private func asker(_ room: SimulationRoom, of track: TrackKey) -> KeyFrameRequest.Asker? {
    let requests = explain(room, MediaQuestion(peers: [], tracks: [track])).feeds.compactMap(\.request)
    return requests.filter { if case .worker = $0.asker { false } else { true } }.max { $0.at < $1.at }?.asker
  }

  @Test(arguments: [1, 2])
  func `a key frame that is requested again and again is for the viewer that waits for it`(workers: Int)
    throws
  {
    let room = try SimulationRoom(workers: workers)
    let publisher = room.address(onWorker: 0, host: 1)
    try room.join(at: publisher, home: 0, publishes: true)
    // What began so long ago can't be shown from its beginning any more.
    room.run(for: .seconds(8))
    let picture = TrackKey(peer: room.keys[0], index: 1)
    #expect(asker(room, of: picture) == nil)
    // The publisher hears nothing of what it is asked for a while, and sends on.
    var isDeaf = true
    room.passes = { datagram in
      !isDeaf || datagram.toServer || !datagram.isMedia || datagram.path.local != publisher
    }
    for number in 1...2 {
      isDeaf = true
      let viewer = room.address(onWorker: workers - 1, host: UInt8(number + 1))
      let far = try room.join(at: viewer, home: workers - 1, publishes: false) {
        $0.audioReceivers = 1
        $0.videoReceivers = 1
      }
      room.run(for: .milliseconds(1_500))
      #expect(asker(room, of: picture) == .subscriber(room.keys[number]))
      let pictures = far.streams.filter { $0.section.kind == .video }
      #expect(pictures.count == 1 && pictures.allSatisfy { $0.entries.isEmpty })
      isDeaf = false
      room.run(for: .seconds(8))
      #expect(pictures.allSatisfy { !$0.entries.isEmpty })
      #expect(asker(room, of: picture) == .subscriber(room.keys[number]), "what has come asks for no more")
    }
    // One that has a picture, and says that it is broken.
    room.peers[1].requestPictures()
    room.run(for: .seconds(1))
    #expect(asker(room, of: picture) == .subscriber(room.keys[1]))
  }

  @Test func `of those that aren't there nothing is said`() throws {
    let room = try SimulationRoom()
    try room.join(at: room.address(onWorker: 0, host: 1), publishes: true)
    let stranger = PeerKey(home: 0, serial: 99)
    let found = explain(
      room, MediaQuestion(peers: [stranger], tracks: [TrackKey(peer: stranger, index: 3)]))
    #expect(found.peers.isEmpty && found.feeds.isEmpty)
  }

  @Test func `a long question goes in parts that name each peer once, and the tracks once`() {
    let peers = (0..<100).map { PeerKey(home: 0, serial: UInt64($0)) }
    let tracks = [TrackKey(peer: peers[0], index: 0)]
    let parts = MediaQuestion(peers: peers, tracks: tracks).parts
    #expect(parts.flatMap(\.peers) == peers && parts.flatMap(\.tracks) == tracks)
    #expect(parts.allSatisfy { $0.peers.count <= MediaQuestion.mostPeers })
    #expect(MediaQuestion(peers: [], tracks: tracks).parts.count == 1)
  }

  @Test func `a worker that answers nothing keeps few questions, and those beyond are answered at once`()
    async throws
  {
    let bridge = Bridge(workers: 1, wake: { _ in }, eventsReady: {})
    let desk = ExplainDesk(bridge)
    let question = MediaQuestion(peers: [PeerKey(home: 0, serial: 1)], tracks: [])
    let start = ContinuousClock.now
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<ExplainDesk.limit {
        group.addTask {
          #expect(await desk.explain(question, within: .milliseconds(100)).allSatisfy { $0 == nil })
        }
      }
    }
    #expect(ContinuousClock.now - start >= .milliseconds(100))
    #expect(desk.unanswered == [ExplainDesk.limit], "they lie at the worker")
    let second = ContinuousClock.now
    #expect(await desk.explain(question, within: .seconds(30)).allSatisfy { $0 == nil })
    #expect(ContinuousClock.now - second < .seconds(10))
    // The worker has ended: what lies there is answered, what comes is refused.
    bridge.close(worker: 0)
    #expect(desk.unanswered == [0])
    #expect(await desk.explain(question, within: .seconds(30)).allSatisfy { $0 == nil })
  }
}
