import Crypto
import ICE
import Model
import Peer
import Polling
import Testing
import Transport

@testable import Engine

@Suite("A worker's commands and tables", .timeLimit(.minutes(2)))
struct WorkerCoreTests {
  /// Workers of one exchange, driven by hand.
  final class Workers {
    let bridge: Bridge
    let cores: UnsafeMutablePointer<WorkerCore>
    private let count: Int
    var now = Instant(nanoseconds: 1_000_000_000)
    private var serial: UInt64 = 0

    init(_ count: Int, peers: Int = 8) throws {
      self.count = count
      bridge = Bridge(workers: count, wake: { _ in }, eventsReady: {})
      cores = .allocate(capacity: count)
      let dtls = try MediaEngineTests.context()
      for index in 0..<count {
        (cores + index).initialize(
          to: WorkerCore(
            index: index, bridge: bridge, limits: WorkerCore.Limits(peers: peers),
            context: PeerContext(
              epoch: Epoch(ntpAtZero: NTPTime(unixNanoseconds: 0)), dtls: dtls, random: .seeded(state: 1),
              outbox: Outbox(datagrams: 64) { $0.removeAll() })))
      }
    }

    deinit {
      cores.deinitialize(count: count)
      cores.deallocate()
    }

    /// Posts a command and lets all workers do what follows.
    func run(_ commands: Command...) {
      for command in commands { bridge.post(command) }
      settle()
    }
    func settle() {
      for _ in 0..<6 { for worker in 0..<count { cores[worker].takeMessages(now: now) } }
    }
    func poll() { for worker in 0..<count { cores[worker].poll(now: now) } }
    func report(_ worker: Int = 0) -> WorkerReport { cores[worker].report() }
    func deadline(_ worker: Int = 0) -> Instant { cores[worker].deadline }
    func rebuild(_ key: PeerKey, on worker: Int = 0) -> Bool { cores[worker].rebuild(key, now: now) }
    func source(_ key: PeerKey, slot: Int, on worker: Int = 0) -> TrackKey? {
      guard let place = cores[worker].peers.find(key) else { return nil }
      return cores[worker].peers.pointer(place).pointee.source(ofSlot: slot)
    }
    /// Workers to which the track is relayed by the one that has it.
    func relays(_ track: TrackKey, on worker: Int) -> UInt64? {
      guard let feed = cores[worker].feeds.find(track) else { return nil }
      return cores[worker].feeds.pointer(feed).pointee.consumers.relays
    }
    func consumers(_ track: TrackKey, on worker: Int = 0) -> Int? {
      guard let feed = cores[worker].feeds.find(track) else { return nil }
      return cores[worker].feeds.pointer(feed).pointee.consumers.count
    }
    /// How many key-frame requests cross to worker 0 when so many are made at once on another.
    func crossings(of track: TrackKey, requests: Int, on worker: Int) -> Int {
      guard let feed = cores[worker].feeds.find(track) else { return -1 }
      for _ in 0..<requests { cores[worker].requestKeyFrame(of: feed, now: now) }
      return bridge.exchange.mailboxes[0].take().count {
        if case .track(.keyFrameWanted) = $0 { true } else { false }
      }
    }
    /// Gives a peer to another worker, which doesn't take it yet.
    func handOn(_ key: PeerKey, from: Int, to worker: Int) {
      guard let place = cores[from].peers.find(key) else { return }
      cores[from].handOn(place, to: worker)
    }
    func takeMessages(_ worker: Int) { cores[worker].takeMessages(now: now) }
    /// Moves a peer to another worker, as its first check there would.
    func move(_ key: PeerKey, from: Int, to worker: Int) {
      guard let place = cores[from].peers.find(key) else { return }
      cores[from].claim(WorkerCoreTests.path, place: place, via: worker)
      cores[from].handOn(place, to: worker)
      settle()
    }
    func closed() -> [PeerKey: PeerCloseReason] {
      var closed: [PeerKey: PeerCloseReason] = [:]
      for events in bridge.drainEvents() { closed[events.peer] = events.closed }
      return closed
    }

    func add(home: Int = 0, receive: [MediaKind] = [], send: [MediaKind] = []) -> PeerKey {
      add(home: home, Self.media(receive, send, UInt32(serial + 1)))
    }

    func add(home: Int = 0, _ media: AgreedMedia) -> PeerKey {
      serial += 1
      let key = PeerKey(home: home, serial: serial)
      var random = RandomSource.system
      run(
        .add(
          PeerSetup(
            key: key, local: .generate(homeWorker: home, random: &random),
            remote: RemoteTransport(
              credentials: ICECredentials(ufrag: "far", password: "farfarfarfarfarfarfarfar"),
              fingerprints: [], role: .server), media: media,
            verification: .always, reportSSRC: 1, createdAt: now)))
      return key
    }

    static func media(_ receive: [MediaKind], _ send: [MediaKind], _ base: UInt32) -> AgreedMedia {
      AgreedMedia(
        receive: receive.enumerated().map { index, kind in
          ReceiveSection(
            index: UInt16(index), mid: "\(index)", kind: kind, codecs: codecs(kind),
            extensions: HeaderExtensionMap(), ssrc: base * 1_000 + UInt32(index))
        },
        send: send.enumerated().map { index, kind in
          SendSection(
            index: UInt16(index), mid: "s\(index)", kind: kind, codecs: codecs(kind),
            extensions: HeaderExtensionMap(), ssrc: base * 1_000 + 500 + UInt32(index), rtxSSRC: nil,
            cname: "",
            streamID: "")
        })
    }
    private static func codecs(_ kind: MediaKind) -> [NegotiatedCodec] {
      [
        NegotiatedCodec(
          codec: kind == .video ? .vp8 : .opus, payloadType: 96, nack: kind == .video, pli: true)
      ]
    }
  }

  static let path = NetworkPath(
    remote: SocketAddress(ipv4: 192, 0, 2, 1, port: 5), local: SocketAddress(ipv4: 10, 0, 0, 1, port: 1))

  func expectEmpty(_ report: WorkerReport, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(
      [
        report.peers, report.tracks, report.paths, report.timers, report.homeRecords, report.fragments,
        report.pendingChecks,
      ] == Array(repeating: 0, count: 7), sourceLocation: sourceLocation)
  }

  @Test func `peers that come and go leave every table as it was`() throws {
    let workers = try Workers(1)
    expectEmpty(workers.report())
    let a = workers.add(receive: [.audio, .video])
    let b = workers.add(receive: [.video], send: [.audio, .video])
    let track = TrackKey(peer: a, index: 1)
    workers.run(.assign(b, slot: 1, track))
    #expect(workers.source(b, slot: 1) == track && workers.consumers(track) == 1)
    let report = workers.report()
    #expect(report.peers == 2 && report.tracks == 3 && report.timers == 2 && report.fragments == 2)
    workers.run(.close(a))
    #expect(workers.source(b, slot: 1) == nil, "its track is over")
    workers.run(.close(b), .close(b))
    expectEmpty(workers.report())
    #expect(workers.closed() == [a: .requested, b: .requested])
    // The tracks of video are looked at once more, to want nothing of them.
    workers.now = workers.deadline()
    workers.poll()
    #expect(workers.deadline() == .never)
  }

  @Test func `a peer that doesn't come loses its place`() throws {
    let workers = try Workers(1)
    let a = workers.add()
    #expect(workers.deadline() != .never)
    for _ in 0..<40 {
      workers.now = workers.now + .seconds(1)
      workers.poll()
    }
    expectEmpty(workers.report())
    #expect(workers.closed() == [a: .neverConnected])
  }

  @Test
  func `however often a key frame is requested elsewhere, the request crosses once in a tenth of a second`()
    throws
  {
    let workers = try Workers(2)
    let a = workers.add(home: 0, receive: [.video])
    let b = workers.add(home: 1, send: [.video])
    let track = TrackKey(peer: a, index: 0)
    workers.run(.assign(b, slot: 0, track))
    workers.now = workers.now + .seconds(1)
    #expect(workers.crossings(of: track, requests: 1_000, on: 1) == 1)
    workers.now = workers.now + .milliseconds(99)
    #expect(workers.crossings(of: track, requests: 1_000, on: 1) == 0)
    workers.now = workers.now + .milliseconds(1)
    #expect(workers.crossings(of: track, requests: 1_000, on: 1) == 1)
  }

  @Test func `commands for peers, tracks and slots that aren't there do nothing`() throws {
    let workers = try Workers(2)
    let unknown = PeerKey(home: 0, serial: 99)
    let farUnknown = PeerKey(home: 1, serial: 99)
    let a = workers.add(receive: [.video], send: [.video])
    for key in [unknown, farUnknown, PeerKey(home: 77, serial: 1)] {
      workers.run(
        .close(key), .apply(key, AgreedMedia()), .assign(key, slot: 0, nil),
        .assign(a, slot: 0, TrackKey(peer: key, index: 0)))
      #expect(workers.source(a, slot: 0) == nil)
    }
    workers.run(
      .assign(a, slot: 9, TrackKey(peer: a, index: 0)), .assign(a, slot: .max, nil),
      .assign(a, slot: 0, TrackKey(peer: a, index: 9)))
    #expect(workers.source(a, slot: 0) == nil)
    workers.run(.close(a))
    expectEmpty(workers.report(0))
    expectEmpty(workers.report(1))
  }

  @Test func `a slot whose new track isn't there shows nothing, and its old one again when asked to`() throws
  {
    let workers = try Workers(1)
    let a = workers.add(receive: [.video, .audio])
    let b = workers.add(send: [.video])
    let camera = TrackKey(peer: a, index: 0)
    workers.run(.assign(b, slot: 0, camera))
    #expect(workers.source(b, slot: 0) == camera)
    for wrong in [
      TrackKey(peer: a, index: 1), TrackKey(peer: a, index: 5),
      TrackKey(peer: PeerKey(home: 0, serial: 88), index: 0),
    ] {
      workers.run(.assign(b, slot: 0, wrong))
      #expect(workers.source(b, slot: 0) == nil && workers.consumers(camera) == 0)
      workers.run(.assign(b, slot: 0, camera))
      #expect(workers.source(b, slot: 0) == camera && workers.consumers(camera) == 1)
    }
  }

  @Test func `sections that go take their tracks and slots along`() throws {
    let workers = try Workers(1)
    let a = workers.add(receive: [.audio, .video])
    let b = workers.add(send: [.audio, .video])
    workers.run(
      .assign(b, slot: 0, TrackKey(peer: a, index: 0)), .assign(b, slot: 1, TrackKey(peer: a, index: 1)))
    var media = Workers.media([.audio, .video], [], 1)
    media.receive.removeLast()
    workers.run(.apply(a, media))
    #expect(workers.source(b, slot: 1) == nil && workers.source(b, slot: 0) != nil)
    #expect(workers.report().tracks == 1)
    workers.run(.apply(b, AgreedMedia()))
    #expect(workers.consumers(TrackKey(peer: a, index: 0)) == 0)
    workers.run(.assign(b, slot: 0, TrackKey(peer: a, index: 0)))
    #expect(workers.consumers(TrackKey(peer: a, index: 0)) == 0)
  }

  @Test func `a full worker refuses by an event`() throws {
    let workers = try Workers(1, peers: 2)
    let keys = (0..<3).map { _ in workers.add() }
    #expect(workers.report().peers == 2 && workers.report().homeRecords == 2)
    #expect(workers.closed() == [keys[2]: .overloaded])
    workers.run(.close(keys[0]))
    _ = workers.add()
    #expect(workers.report().peers == 2)
  }

  @Test func `ICE restarts keep two fragments, not all`() throws {
    let workers = try Workers(1)
    let a = workers.add()
    var random = RandomSource.system
    for _ in 0..<10 {
      workers.run(
        .restartICE(
          a, local: .generate(homeWorker: 0, random: &random),
          remote: ICECredentials(ufrag: "new", password: "farfarfarfarfarfarfarfar")))
      #expect(workers.report().fragments == 2)
    }
    #expect(workers.report().routing.iceRestarts == 10)
    workers.run(.close(a))
    expectEmpty(workers.report())
    #expect(workers.report().routing[.requested] == 1 && workers.report().routing[.neverConnected] == 0)
  }

  @Test func `an ICE restart of a peer that is gone leaves nothing`() throws {
    let workers = try Workers(2)
    let a = workers.add(home: 0)
    workers.move(a, from: 0, to: 1)
    let restart = Command.restartICE(
      a, local: ICECredentials(ufrag: "a00restarted000", password: "restartedrestartedrestar"),
      remote: ICECredentials(ufrag: "new", password: "farfarfarfarfarfarfarfar"))
    // The second one is under way when the peer goes.
    workers.run(restart, .close(a), restart)
    workers.run(restart)
    for worker in 0..<2 { expectEmpty(workers.report(worker)) }
  }

  @Test func `a track of another worker is asked for while it has a consumer`() throws {
    let workers = try Workers(2)
    let a = workers.add(home: 0, receive: [.video])
    let b = workers.add(home: 1, send: [.video])
    let track = TrackKey(peer: a, index: 0)
    workers.run(.assign(b, slot: 0, track))
    #expect(workers.relays(track, on: 0) == 0b10 && workers.consumers(track, on: 1) == 1)
    workers.run(.assign(b, slot: 0, nil))
    #expect(workers.relays(track, on: 0) == 0 && workers.consumers(track, on: 1) == nil)
    // Away and back in one batch: the last word is that it is wanted.
    workers.run(.assign(b, slot: 0, track), .assign(b, slot: 0, nil), .assign(b, slot: 0, track))
    #expect(workers.relays(track, on: 0) == 0b10)
    workers.run(.close(a))
    #expect(workers.source(b, slot: 0) == nil && workers.consumers(track, on: 1) == nil)
    workers.run(.close(b))
    expectEmpty(workers.report(0))
    expectEmpty(workers.report(1))
  }

  @Test func `a peer that was adopted elsewhere is still reached, and its tracks too`() throws {
    let workers = try Workers(3)
    let a = workers.add(home: 0, receive: [.video])
    let here = workers.add(home: 0, send: [.video])
    let there = workers.add(home: 1, send: [.video])
    let track = TrackKey(peer: a, index: 0)
    workers.run(.assign(here, slot: 0, track), .assign(there, slot: 0, track))
    workers.move(a, from: 0, to: 2)
    #expect(workers.report(2).peers == 1 && workers.report(0).peers == 1)
    #expect(workers.relays(track, on: 2) == 0b011)
    // Away and back in one batch, at the home of a peer that isn't there.
    workers.run(.assign(here, slot: 0, nil), .assign(here, slot: 0, track))
    #expect(workers.relays(track, on: 2) == 0b011)
    workers.run(.assign(there, slot: 0, nil))
    #expect(workers.relays(track, on: 2) == 0b001)
    workers.run(.assign(there, slot: 0, track))
    #expect(workers.relays(track, on: 2) == 0b011)
    workers.run(.close(a))
    for worker in 0..<3 { #expect(workers.report(worker).tracks == 0) }
    #expect(workers.source(here, slot: 0) == nil && workers.source(there, slot: 0, on: 1) == nil)
    workers.run(.close(here), .close(there))
    for worker in 0..<3 { expectEmpty(workers.report(worker)) }
  }

  @Test func `a slot may hear of a track before the worker that has its publisher does`() throws {
    let workers = try Workers(2)
    let a = workers.add(home: 0)
    workers.move(a, from: 0, to: 1)
    let b = workers.add(home: 1, send: [.video])
    let track = TrackKey(peer: a, index: 0)
    // The description goes by way of worker 0, the assignment straight to worker 1.
    workers.run(.apply(a, Workers.media([.video], [], 9)), .assign(b, slot: 0, track))
    #expect(workers.source(b, slot: 0, on: 1) == track && workers.consumers(track, on: 1) == 1)
    workers.run(.close(a))
    #expect(workers.source(b, slot: 0, on: 1) == nil)
    // One that never comes leaves nothing behind either.
    let c = workers.add(home: 0)
    workers.move(c, from: 0, to: 1)
    workers.run(.assign(b, slot: 0, TrackKey(peer: c, index: 5)))
    workers.run(.close(c), .close(b))
    for worker in 0..<2 { expectEmpty(workers.report(worker)) }
  }

  @Test func `a subscriber that is rebuilt still gets tracks from near and far`() throws {
    let workers = try Workers(2)
    let near = workers.add(home: 0, receive: [.video])
    let far = workers.add(home: 0, receive: [.audio])
    let b = workers.add(home: 0, receive: [.video], send: [.video, .audio, .video])
    workers.move(far, from: 0, to: 1)
    let camera = TrackKey(peer: near, index: 0)
    let microphone = TrackKey(peer: far, index: 0)
    // One of them shows its own picture.
    let mirror = TrackKey(peer: b, index: 0)
    workers.run(.assign(b, slot: 0, camera), .assign(b, slot: 1, microphone), .assign(b, slot: 2, mirror))
    for _ in 0..<3 {
      #expect(workers.rebuild(b))
      workers.settle()
      #expect(workers.source(b, slot: 0) == camera && workers.source(b, slot: 1) == microphone)
      #expect(workers.source(b, slot: 2) == mirror && workers.consumers(mirror) == 1)
      #expect(workers.consumers(camera) == 1 && workers.relays(microphone, on: 1) == 0b01)
    }
    #expect(!workers.rebuild(PeerKey(home: 0, serial: 99)))
    workers.move(b, from: 0, to: 1)
    #expect(workers.source(b, slot: 2, on: 1) == mirror)
    #expect(workers.relays(camera, on: 0) == 0b10)
    workers.run(.close(near), .close(far), .close(b))
    expectEmpty(workers.report(0))
    expectEmpty(workers.report(1))
  }

  @Test func `an adopter without room ends the peer, and says so`() throws {
    let workers = try Workers(2, peers: 1)
    let a = workers.add(home: 0, receive: [.video])
    let b = workers.add(home: 1, send: [.video])
    workers.run(.assign(b, slot: 0, TrackKey(peer: a, index: 0)))
    workers.move(a, from: 0, to: 1)
    #expect(workers.closed()[a] == .overloaded)
    expectEmpty(workers.report(0))
    #expect(workers.report(1).peers == 1)
    #expect(workers.source(b, slot: 0, on: 1) == nil)
    #expect(workers.report(1).tracks == 0)
  }
}
