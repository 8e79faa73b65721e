import Foundation
import Logging
import Model
import Simulation
import TestScripts
import Testing

@testable import Engine

@Suite("Records of peers that are closed since their session was lost", .timeLimit(.minutes(1)))
struct KeptFlightTests {
  private let place = FileManager.default.temporaryDirectory.appending(path: "kept-\(UUID().uuidString)")

  private func names() -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []).sorted()
  }

  @Test func `what is asked for before a peer is closed is written, whichever worker has it`() throws {
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: place) }
    let room = try SimulationRoom(workers: 2)
    // One at its home, one that another worker has adopted.
    try room.join(at: room.address(onWorker: 0, host: 1), home: 0, publishes: true)
    try room.join(at: room.address(onWorker: 1, host: 2), home: 0, publishes: false)
    room.run(for: .seconds(2))
    let files = try FlightFiles(
      directory: place.path, files: 10, bytes: 10_000_000, bridge: room.server.bridge,
      epoch: Epoch(ntpAtZero: NTPTime(unixNanoseconds: 1_700_000_000_000_000_000)),
      log: Log(level: .error) { _ in })
    for (number, key) in room.keys.enumerated() {
      files.keep(key, room: "r", identity: "ada", name: "PA_\(number)-1", title: "a test")
      room.server.bridge.post(.close(key))
    }
    // Of one that isn't there, nothing.
    files.keep(PeerKey(home: 1, serial: 99), room: "r", identity: "bob", name: "PA_9-1", title: "none")
    room.run(for: .milliseconds(10))
    #expect(room.events.filter { $0.closed != nil }.allSatisfy { $0.recording == nil })
    files.stop()
    #expect(files.counts.written == 2 && room.server.bridge.flights.waiting == 0)
    #expect(names().map { $0.hasSuffix("-1-connectionLost.pcapng") } == [true, true])
    for name in names() {
      let bytes = Array(try Data(contentsOf: place.appending(path: name)))
      let capture = try #require(CapturedPackets(bytes))
      #expect(capture.packets.count > 50)
      #expect(capture.packets.contains { $0.decision == "the handshake is done" })
    }
  }
}
