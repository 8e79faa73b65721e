import Foundation
import Media
import Model
import Peer
import Simulation
import SyntheticPeers
import Testing
import Transport

@testable import Engine

@Suite("A worker's state that earlier builds wrote", .serialized, .timeLimit(.minutes(2)))
struct WorkerFixtureTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../Fixtures/state").standardizedFileURL

  /// By number, of which each stands for a layout; the last is the newest.
  private static func kept() throws -> [(number: Int, bytes: [UInt8])] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
    let numbers = names.filter { $0.hasPrefix("worker-") }.compactMap { Int($0.dropFirst(7).dropLast(4)) }
    return try numbers.sorted().map { number in
      (number, Array(try Data(contentsOf: folder.appending(path: "worker-\(number).bin"))))
    }
  }

  /// A worker with a publisher and its subscriber, and the last three packets of each track.
  private static func run() throws -> [UInt8] {
    let room = try SimulationRoom()
    try room.join(at: SimulationAddressTests.home, publishes: true)
    try room.join(at: SimulationAddressTests.other, publishes: false) {
      $0.audioReceivers = 1
      $0.videoReceivers = 1
    }
    room.run(for: .seconds(2))
    var state = try WorkerState(decoding: try #require(room.server.states().first))
    for feed in state.feeds.indices { state.feeds[feed].packets = state.feeds[feed].packets.suffix(3) }
    return state.encode()
  }

  /// What this build makes of state: the worker's sections and each peer of it.
  private static func rewritten(_ bytes: [UInt8]) throws -> [UInt8] {
    var state = try WorkerState(decoding: bytes)
    for index in state.peers.indices {
      let peer = try Peer.decode(state.peers[index].bytes)
      let bytes = peer.encode()
      state.peers[index].bytes = try #require(bytes)
    }
    return state.encode()
  }

  @Test func `what any build wrote this one reads, with all that is in it`() throws {
    if ProcessInfo.processInfo.environment["ROOST_KEEP_STATE"] == "1" { try Self.keep() }
    let kept = try Self.kept()
    #expect(!kept.isEmpty && kept.map(\.number) == Array(1...kept.count))
    for (number, bytes) in kept {
      let state = try WorkerState(decoding: bytes)
      #expect(state.peers.count == 2 && state.routing.paths.count == 2, "worker-\(number).bin")
      #expect(state.feeds.map { $0.slots.count } == [1, 1] && state.feeds.map(\.packets.count) == [3, 3])
      for packet in state.feeds.flatMap(\.packets) {
        #expect(packet.info.payloadOffset >= 12 && packet.info.payloadSize > 40)
        #expect(Int(packet.info.payloadOffset) + Int(packet.info.payloadSize) == packet.bytes.count)
      }
      let report = try Self.taken(bytes)
      #expect(report.peers == 2 && report.connectedPeers == 2 && report.tracks == 2)
      #expect(report.consumers == 2 && report.paths == 2 && report.fragments == 2)
    }
  }

  @Test func `the newest state that is kept is as this build writes it`() throws {
    let newest = try #require(try Self.kept().last).bytes
    #expect(try Self.rewritten(newest) == newest, "scripts/keep-state keeps another beside it")
  }

  @Test func `state that is kept is refused where it is cut off`() throws {
    for (_, bytes) in try Self.kept() {
      for size in stride(from: 0, to: bytes.count, by: 11) {
        #expect(throws: StateError.self) { try WorkerState(decoding: Array(bytes[..<size])) }
      }
    }
  }

  /// Writes state beside the newest, unless that is as this build writes it.
  private static func keep() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let newest = try kept().last
    if let newest, try rewritten(newest.bytes) == newest.bytes { return }
    let place = folder.appending(path: "worker-\((newest?.number ?? 0) + 1).bin")
    try Data(try run()).write(to: place)
  }

  /// What a worker that goes on from the state has.
  private static func taken(_ state: [UInt8]) throws -> WorkerReport {
    let bridge = Bridge(workers: 1, wake: { _ in }, eventsReady: {})
    let core = try WorkerCore.decode(
      state, index: 0, bridge: bridge, limits: WorkerCore.Limits(peers: 4),
      context: PeerContext(
        epoch: Epoch(ntpAtZero: NTPTime(unixNanoseconds: 0)), dtls: try MediaEngineTests.context(),
        random: .seeded(state: 5), outbox: Outbox(datagrams: 64) { $0.removeAll() }),
      now: Instant(nanoseconds: 3_100_000_000))
    return core.report()
  }
}
