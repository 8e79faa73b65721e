import Model
import Negotiation
import Peer
import Simulation
import Synchronization
import SyntheticPeers
import TestScripts
import Testing

@testable import Engine

/// What a worker answers when it is asked for a record.
final class Answer: Sendable {
  private let answers = Mutex<[FlightRecording?]>([])
  func set(_ answer: FlightRecording?) { answers.withLock { $0.append(answer) } }
  var all: [FlightRecording?] { answers.withLock { $0 } }
  var value: FlightRecording? { all.last ?? nil }
}

@Suite("What flight recorders have", .timeLimit(.minutes(2)))
struct FlightTests {
  private func recording(_ room: SimulationRoom, _ key: PeerKey) -> FlightRecording? {
    let answer = Answer()
    _ = room.server.bridge.recording(of: key, home: key.home) { answer.set($0) }
    room.run(for: .milliseconds(1))
    #expect(answer.all.count == 1, "one answer, whichever worker has the peer")
    return answer.all.first ?? nil
  }

  private func bytes(_ room: SimulationRoom) -> Int {
    room.server.reports(now: room.now).reduce(0) { $0 + $1.transports.flightBytes }
  }

  @Test func `a peer's record follows it to its worker, and its memory goes with it`() throws {
    let room = try SimulationRoom(workers: 2)
    try room.join(at: room.address(onWorker: 1, host: 1), home: 0, publishes: true)
    try room.join(at: room.address(onWorker: 0, host: 2), home: 1, publishes: false)
    #expect(bytes(room) == 0)
    room.run(for: .seconds(3))
    for key in room.keys { #expect(recording(room, key)?.isEmpty == false) }
    #expect(bytes(room) > 0)
    #expect(recording(room, PeerKey(home: 1, serial: 99)) == nil)
    room.server.bridge.flights.open()
    for key in room.keys { room.server.bridge.post(.close(key)) }
    room.run(for: .milliseconds(10))
    for key in room.keys { #expect(recording(room, key) == nil) }
    #expect(bytes(room) == 0)
    #expect(room.events.allSatisfy { $0.recording == nil }, "an end that was asked for is no failure")
  }

  @Test func `a record has the headers of all that came and went, and no payload`() throws {
    let room = try SimulationRoom()
    let addresses = [room.address(onWorker: 0, host: 1), room.address(onWorker: 0, host: 2)]
    try room.join(at: addresses[0], publishes: true)
    try room.join(at: addresses[1], publishes: false)
    room.run(for: .seconds(4))
    let epoch = Epoch(ntpAtZero: NTPTime(unixNanoseconds: 0))
    let publisher = try #require(recording(room, room.keys[0])).capture(title: "publisher", epoch: epoch)
    let subscriber = try #require(recording(room, room.keys[1])).capture(title: "subscriber", epoch: epoch)
    // The first four bytes of what every payload of a synthetic peer says of itself.
    let stamp: [UInt8] = [0x52, 0x6F, 0x53, 0x74]
    for (file, address) in zip([publisher, subscriber], addresses) {
      #expect(!file.indices.dropLast(3).contains { file[$0..<($0 + 4)].elementsEqual(stamp) })
      let capture = try #require(CapturedPackets(file))
      let sent = capture.packets.filter { $0.isInbound == false }
      #expect(capture.packets.contains { $0.decision == "the handshake is done" })
      #expect(capture.packets.contains { $0.decision?.hasPrefix("media goes: ") == true })
      let came = capture.packets.filter { $0.isInbound == true }
      for first in [UInt8(0), 1, 22] {
        #expect(came.contains { $0.payload?.first == first })
        #expect(sent.contains { $0.payload?.first == first })
      }
      let media = room.sent(to: address).filter(\.isMedia)
      let headers = Set(sent.compactMap(\.payload).map { Array($0.prefix(12)) })
      let rtp = media.filter { !(64...95).contains($0.bytes[1] & 0x7F) }
      #expect(rtp.allSatisfy { headers.contains(Array($0.bytes.prefix(12))) })
    }
    #expect(
      CapturedPackets(subscriber)?.packets.contains { $0.isInbound == true && $0.payload?[1] == 201 } == true)
  }

  @Test func `what a session that failed had goes up with its end, once, and only where it is wanted`() throws
  {
    for isWanted in [true, false] {
      let room = try SimulationRoom()
      if isWanted { room.server.bridge.flights.open() }
      try room.join(at: room.address(onWorker: 0, host: 1), publishes: true)
      room.run(for: .seconds(2))
      room.passes = { _ in false }
      room.run(for: .seconds(60))
      let ends = room.events.filter { $0.closed != nil }
      #expect(ends.map(\.closed) == [.connectionLost])
      #expect(ends.compactMap(\.recording).count == (isWanted ? 1 : 0))
      #expect(room.server.bridge.flights.waiting == (isWanted ? 1 : 0))
      guard let recording = ends[0].recording else { continue }
      let file = recording.capture(title: "-", epoch: Epoch(ntpAtZero: NTPTime(unixNanoseconds: 0)))
      #expect(CapturedPackets(file)?.packets.last?.decision == "ended: connectionLost")
    }
  }

  @Test func `where many fail at once, few records wait for the disk and the others are counted`() throws {
    let room = try SimulationRoom()
    room.server.bridge.flights.open()
    for host in 1...24 {
      try room.join(at: room.address(onWorker: 0, host: UInt8(host)), publishes: true) {
        $0.publishesVideo = false
      }
    }
    room.run(for: .seconds(2))
    room.passes = { _ in false }
    room.run(for: .seconds(60))
    #expect(room.events.count { $0.closed == .connectionLost } == 24)
    #expect(room.events.compactMap(\.recording).count == FlightOutlet.limit)
    #expect(room.server.bridge.flights.skipped == 24 - UInt64(FlightOutlet.limit))
  }

  @Test func `what the path carries, what is probed and which layer is shown are in it as lines of text`()
    throws
  {
    let room = try SimulationRoom(policy: NegotiationPolicy(usesTransportFeedback: true))
    try room.join(at: room.address(onWorker: 0, host: 1), publishes: true) { $0.dialect.tellsArrivals = true }
    try room.join(at: room.address(onWorker: 0, host: 2), publishes: false) {
      $0.dialect.tellsArrivals = true
    }
    room.run(for: .seconds(6))
    let file = try #require(recording(room, room.keys[1])).capture(
      title: "-", epoch: Epoch(ntpAtZero: NTPTime(unixNanoseconds: 0)))
    let lines = try #require(CapturedPackets(file)).packets.compactMap(\.decision)
    for beginning in [
      "target ", "probe 1 begins at ", "the probe is judged: target ", "slot 1 is to show encoding 0",
    ] {
      #expect(lines.contains { $0.hasPrefix(beginning) }, "\(beginning) of \(lines)")
    }
  }

  @Test func `what a stranger sends under a participant's address pushes nothing out of its record`() throws {
    let room = try SimulationRoom()
    let address = room.address(onWorker: 0, host: 1)
    try room.join(at: address, publishes: true)
    room.run(for: .seconds(2))
    let before = bytes(room)
    var random = RandomSource.seeded(state: 5)
    for round in 0..<20_000 {
      let first: UInt8 = [0, 1, 22, 0x80, 0x90][round % 5]
      room.inject([first] + (0..<60).map { _ in UInt8(truncatingIfNeeded: random.next()) }, from: address)
    }
    room.run(for: .milliseconds(5))
    #expect(bytes(room) <= before + FlightMemory.blockSize)
  }
}
