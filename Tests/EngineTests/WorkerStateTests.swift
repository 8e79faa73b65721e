import Media
import Model
import Peer
import Simulation
import SyntheticPeers
import Testing
import Transport

@testable import Engine

@Suite("A worker goes on from its state", .timeLimit(.minutes(2)))
struct WorkerStateTests {
  typealias Workers = WorkerCoreTests.Workers

  private static let base = Instant(nanoseconds: 7_000_000_000)

  /// Something in every field.
  private func full() -> WorkerState {
    let (a, b) = (PeerKey(home: 0, serial: 1), PeerKey(home: 1, serial: 2))
    let path = WorkerCoreTests.path
    var state = WorkerState()
    state.routing.homes = [
      .init(key: a, worker: 3, ufrags: [UfragKey(high: 1, low: 2), UfragKey(high: 3, low: 4)])
    ]
    state.routing.peers = [
      .init(
        key: b, ufrags: [UfragKey(high: 5, low: 6)], isAdopted: true,
        paths: [ClaimedPath(path: path, via: 2, isProven: true)])
    ]
    state.routing.paths = [
      .init(
        path: path, owner: .init(destination: .peer(b), isProven: true),
        rivals: [.init(destination: .worker(2), isProven: false)])
    ]
    state.peers = [.init(key: b, bytes: [1, 2, 3])]
    state.leftBehind = [PeerKey(home: 3, serial: 9)]
    var feed = FeedState(key: TrackKey(peer: a, index: 4), kind: .video)
    feed.relayedFrom = 1
    feed.slots = [.init(peer: b, slot: 7)]
    feed.relays = 0b101
    feed.clock = ClockMapping(
      timestamp: 8, ntp: NTPTime(rawValue: 9), rate: 90_000, measured: 90_001, isReported: true)
    var info = PacketInfo()
    info.payloadOffset = 12
    info.extendedSequence = 1 << 40
    info.flags = [.keyFrame]
    info.arrival = Self.base
    feed.picture.note(info)
    feed.picture.mute(3)
    feed.packets = [.init(info: info, bytes: Array(repeating: 9, count: 12))]
    var other = FeedState(key: TrackKey(peer: b, index: 0), kind: .audio)
    other.relays = 1 << 63
    state.feeds = [feed, other]
    return state
  }

  @Test func `what is written is read back`() throws {
    let bytes = full().encode()
    let read = try WorkerState(decoding: bytes)
    #expect(read.encode() == bytes)
    #expect(read.routing.homes.first?.worker == 3 && read.routing.paths.first?.rivals.count == 1)
    #expect(read.feeds.map(\.relays) == [0b101, 1 << 63] && read.feeds[0].packets[0].bytes.count == 12)
    #expect(read.feeds[0].clock == full().feeds[0].clock && read.feeds[1].clock == nil)
    let empty = WorkerState().encode()
    #expect(try WorkerState(decoding: empty).encode() == empty)
  }

  @Test func `state cut anywhere, or with more behind it, is refused`() {
    let bytes = full().encode()
    for size in 0..<bytes.count {
      #expect(throws: StateError.self) { try WorkerState(decoding: Array(bytes[..<size])) }
    }
    #expect(throws: StateError.self) { try WorkerState(decoding: bytes + [0]) }
    #expect(throws: StateError.invalid(field: "section 3", offset: bytes.count)) {
      try WorkerState(decoding: bytes + [3, 1, 0, 0, 0, 0, 0])
    }
  }

  @Test func `changed bytes are refused or read as other state, and never trap`() {
    let bytes = full().encode()
    var refused = 0
    for position in bytes.indices {
      for bit in 0..<8 {
        var other = bytes
        other[position] ^= 1 << UInt8(bit)
        if let read = try? WorkerState(decoding: other) {
          _ = read.encode()
        } else {
          refused += 1
        }
      }
    }
    #expect(refused > 100)
  }

  @Test func `what newer builds add in optional sections is skipped, and in no others`() throws {
    let bytes = full().encode()
    var offsets = [0]
    while let last = offsets.last, last < bytes.count {
      offsets.append(last + 7 + (0..<4).reduce(0) { $0 | Int(bytes[last + 3 + $1]) << (8 * $1) })
    }
    #expect(offsets.count == WorkerState.Section.allCases.count + 1)
    for offset in offsets {
      for number in [UInt8(4), 127, 128, 255] {
        let section: [UInt8] = [number, 9, 0, 2, 0, 0, 0, 7, 7]
        let other = Array(bytes[..<offset]) + section + Array(bytes[offset...])
        if number >= WorkerState.Section.firstOptional {
          #expect(try WorkerState(decoding: other).encode() == bytes)
        } else {
          #expect(throws: StateError.invalid(field: "section \(number)", offset: offset)) {
            try WorkerState(decoding: other)
          }
        }
      }
    }
  }

  @Test func `a section of another version says which`() {
    let bytes = full().encode()
    // Number, version, length, body: the sections one after the other.
    var offset = 0
    for section in WorkerState.Section.allCases {
      var other = bytes
      let next = section.version + 1
      other[offset + 1] = UInt8(next)
      #expect(
        throws: StateError.version(
          Int(next), of: "\(section)", known: 1...Int(section.version), offset: offset)
      ) {
        try WorkerState(decoding: other)
      }
      let length = (0..<4).reduce(0) { $0 | Int(bytes[offset + 3 + $1]) << (8 * $1) }
      offset += 7 + length
    }
    #expect(offset == bytes.count)
  }

  @Test func `a peer in the middle of its handshake is left behind, and keeps no other from going on`() throws
  {
    let room = try SimulationRoom()
    let home = SimulationAddressTests.home
    let other = SimulationAddressTests.other
    try room.join(at: home, publishes: true)
    room.run(for: .seconds(1))
    // The one that comes gets no answer to its handshake.
    room.passes = { !($0.isDTLS && !$0.toServer && $0.path.local == other) }
    try room.join(at: other, publishes: false)
    room.run(for: .seconds(1))
    #expect(room.server.reports(now: room.now)[0].peers == 2)
    #expect(room.server.rebuildWorkers(now: room.now) == 0, "here it would end")
    let state = try #require(room.server.states().first)
    let read = try WorkerState(decoding: state)
    #expect(read.peers.map(\.key) == [room.keys[0]] && read.routing.homes.map(\.key) == [room.keys[0]])
    #expect(read.routing.paths.count == 1 && read.feeds.allSatisfy { $0.slots.isEmpty })
    #expect(read.leftBehind == [room.keys[1]])
    let report = try taken(state, peers: 1)
    #expect(report.routing[.handshakeFailed] == 1)
    #expect(report.peers == 1 && report.fragments == 1 && report.paths == 1 && report.homeRecords == 1)
  }

  @Test func `a peer that is left behind leaves no record at its home, and is reported closed`() throws {
    let workers = try Workers(2)
    let key = workers.add(home: 0, receive: [.video])
    workers.move(key, from: 0, to: 1)
    #expect(workers.report(0).homeRecords == 1 && workers.report(1).peers == 1)
    _ = workers.closed()
    var state = try WorkerState(decoding: workers.cores[1].encode())
    // As if it had been in its handshake.
    #expect(state.leftBehind == [] && state.peers.map(\.key) == [key])
    (state.peers, state.leftBehind, state.feeds) = ([], [key], [])
    (state.routing.peers, state.routing.paths) = ([], [])
    workers.cores[1] = try WorkerCore.decode(
      state.encode(), index: 1, bridge: workers.bridge, limits: WorkerCore.Limits(peers: 8),
      context: PeerContext(
        epoch: Epoch(ntpAtZero: NTPTime(unixNanoseconds: 0)), dtls: try MediaEngineTests.context(),
        random: .seeded(state: 5), outbox: Outbox(datagrams: 64) { $0.removeAll() }), now: workers.now)
    #expect(workers.report(1).routing[.handshakeFailed] == 1)
    workers.settle()
    #expect(workers.report(0).homeRecords == 0 && workers.report(0).fragments == 0)
    #expect(workers.closed() == [key: .handshakeFailed])
  }

  @Test func `state from before peers that are left behind were named is read`() throws {
    var state = full()
    state.leftBehind = []
    let bytes = state.encode()
    let routing = 7 + (0..<4).reduce(0) { $0 | Int(bytes[3 + $1]) << (8 * $1) }
    let length = (0..<4).reduce(0) { $0 | Int(bytes[routing + 3 + $1]) << (8 * $1) }
    var old = bytes
    old[routing + 1] = 1
    old.removeSubrange(routing + 7 + length - 4..<routing + 7 + length)
    withUnsafeBytes(of: UInt32(length - 4).littleEndian) { size in
      for byte in 0..<4 { old[routing + 3 + byte] = size[byte] }
    }
    let read = try WorkerState(decoding: old)
    #expect(read.peers.map(\.key) == state.peers.map(\.key) && read.leftBehind == [])
    #expect(read.encode() == bytes)
  }

  @Test func `a worker that isn't there, or a thing that comes twice, is refused`() throws {
    #expect(throws: Never.self) { try full().check(workers: 64) }
    #expect(throws: StateError.invalid(field: "worker 63 of 63", offset: 0)) { try full().check(workers: 63) }
    let changes: [(inout WorkerState) -> Void] = [
      { $0.feeds.append($0.feeds[0]) }, { $0.feeds[1].slots = $0.feeds[0].slots },
      { $0.peers.append($0.peers[0]) }, { $0.leftBehind.append($0.peers[0].key) },
      { $0.routing.homes.append($0.routing.homes[0]) },
      { $0.routing.peers.append($0.routing.peers[0]) }, { $0.routing.paths.append($0.routing.paths[0]) },
    ]
    for change in changes {
      var state = full()
      change(&state)
      #expect(throws: StateError.self) { try state.check(workers: 64) }
    }
    // Each place where a worker is named, with one more than there are.
    let names: [(inout WorkerState) -> Void] = [
      { $0.routing.homes[0].worker = 9 }, { $0.feeds[0].relayedFrom = 9 }, { $0.feeds[1].relays = 1 << 9 },
      { $0.routing.paths[0].rivals[0].destination = .worker(9) },
      { $0.routing.paths[0].owner.destination = .worker(9) },
      { $0.routing.peers[0].paths = [ClaimedPath(path: WorkerCoreTests.path, via: 9, isProven: false)] },
    ]
    for name in names {
      var state = full()
      state.feeds[1].relays = 0
      #expect(throws: Never.self) { try state.check(workers: 9) }
      name(&state)
      #expect(throws: StateError.invalid(field: "worker 9 of 9", offset: 0)) { try state.check(workers: 9) }
    }
  }

  @Test(arguments: [-1, .min, .min + 5, .max, 1 << 62 + 1] as [Int64])
  func `a packet's number that no track comes to is refused`(number: Int64) {
    var state = full()
    state.feeds[0].packets[0].info.extendedSequence = number
    #expect(throws: StateError.self) { try WorkerState(decoding: state.encode()) }
  }

  private static let senseless: [(Int64, Int64)] = [
    (-1, 5), (5, -1), (5, 4), (5, .min), (0, .max), (.max, .max), (.min + 1, 5),
  ]

  @Test(arguments: senseless)
  func `a picture that ends before it begins is refused`(keyFrame: Int64, newest: Int64) throws {
    func bytes(_ keyFrame: Int64, _ newest: Int64) -> [UInt8] {
      var writer = StateWriter()
      writer.write(keyFrame)
      writer.write(Self.base)
      writer.write(newest)
      writer.write(UInt8(0))
      writer.write(false)
      writer.write(UInt8(0))
      return writer.bytes
    }
    for (first, last) in [(.min, .min), (.min, 5), (5, 5), (5, 1 << 62)] as [(Int64, Int64)] {
      var reader = StateReader(bytes(first, last))
      #expect(throws: Never.self) { _ = try PictureStart(from: &reader) }
    }
    var reader = StateReader(bytes(keyFrame, newest))
    #expect(throws: StateError.self) { _ = try PictureStart(from: &reader) }
  }

  @Test func `workers that are rebuilt serve the same peers and tracks, near and far`() throws {
    let workers = try Workers(2)
    let near = workers.add(home: 0, receive: [.video])
    let far = workers.add(home: 0, receive: [.audio])
    workers.move(far, from: 0, to: 1)
    let b = workers.add(home: 0, receive: [.video], send: [.video, .audio])
    let (camera, microphone) = (TrackKey(peer: near, index: 0), TrackKey(peer: far, index: 0))
    workers.run(.assign(b, slot: 0, camera), .assign(b, slot: 1, microphone))
    let before = (0..<2).map { workers.report($0) }
    for _ in 0..<3 {
      for worker in 0..<2 {
        let isRebuilt = workers.cores[worker].rebuild(now: workers.now)
        #expect(isRebuilt)
      }
      workers.settle()
    }
    for worker in 0..<2 {
      let report = workers.report(worker)
      #expect(report.peers == before[worker].peers && report.tracks == before[worker].tracks)
      #expect(report.paths == before[worker].paths && report.timers == before[worker].timers)
      #expect(report.fragments == before[worker].fragments && report.consumers == before[worker].consumers)
      #expect(report.routing.adopted == before[worker].routing.adopted)
    }
    #expect(workers.source(b, slot: 0) == camera && workers.source(b, slot: 1) == microphone)
    #expect(workers.relays(microphone, on: 1) == 0b01 && workers.consumers(camera) == 1)
    // What was posted to the old ones is done by the new ones.
    workers.run(.assign(b, slot: 1, nil))
    #expect(workers.relays(microphone, on: 1) == 0)
    workers.run(.close(near), .close(far), .close(b))
    for worker in 0..<2 { WorkerCoreTests().expectEmpty(workers.report(worker)) }
    #expect(workers.bridge.exchange.fragmentCount == 0)
  }

  /// What a worker that goes on from the state has.
  private func taken(_ state: [UInt8], peers: Int) throws -> WorkerReport {
    let dtls = try MediaEngineTests.context()
    let bridge = Bridge(workers: 1, wake: { _ in }, eventsReady: {})
    let core = try WorkerCore.decode(
      state, index: 0, bridge: bridge, limits: WorkerCore.Limits(peers: peers),
      context: PeerContext(
        epoch: Epoch(ntpAtZero: NTPTime(unixNanoseconds: 0)), dtls: dtls, random: .seeded(state: 5),
        outbox: Outbox(datagrams: 64) { $0.removeAll() }), now: Instant(nanoseconds: 2_000_000_000))
    let report = core.report()
    #expect(bridge.exchange.fragmentCount == report.peers)
    return report
  }

  @Test func `another worker takes the state over, or refuses more peers than it has room for`() throws {
    let workers = try Workers(1)
    let a = workers.add(receive: [.video])
    let b = workers.add(send: [.video])
    workers.run(.assign(b, slot: 0, TrackKey(peer: a, index: 0)))
    let state = workers.cores[0].encode()
    let report = try taken(state, peers: 2)
    #expect(report.peers == 2 && report.tracks == 1 && report.consumers == 1 && report.timers == 2)
    #expect(throws: StateError.invalid(field: "2 peers, over 1", offset: 0)) {
      try taken(state, peers: 1)
    }
  }

  @Test(arguments: [1, 3])
  func `in mid-conference no subscriber sees a gap, and what was lost before is still sent again`(
    workers: Int
  ) throws {
    let room = try SimulationRoom(workers: workers)
    try room.join(at: room.address(onWorker: 0, host: 20), publishes: true)
    let subscribers = try (0..<workers).map { worker in
      try room.join(at: room.address(onWorker: worker, host: UInt8(30 + worker)), publishes: false) {
        $0.audioReceivers = 1
        $0.videoReceivers = 1
      }
    }
    room.run(for: .seconds(3))
    // Pictures that are lost on their way just before; sound is never asked for again.
    var lost = 0
    var isLosing = false
    room.passes = { datagram in
      guard isLosing, !datagram.toServer, datagram.isMedia, datagram.bytes.count > 250 else { return true }
      lost += 1
      return lost % 2 != 0
    }
    func gaps() -> Int { subscribers.reduce(0) { $0 + $1.numbersMissing.reduce(0, +) } }
    let before = gaps()
    for _ in 0..<5 {
      isLosing = true
      room.run(for: .milliseconds(200))
      isLosing = false
      #expect(room.server.rebuildWorkers(now: room.now) == workers)
      room.run(for: .seconds(1))
    }
    #expect(lost > 5 && gaps() == before)
    for subscriber in subscribers { #expect(subscriber.packetsReceived(of: 0) > 500) }
    let counters = room.server.reports(now: room.now).reduce(0) { $0 + $1.counters.media.retransmissionsSent }
    #expect(counters > 0 && room.dropped(.sealRefused) == 0 && room.journal.violations == [])
  }
}
