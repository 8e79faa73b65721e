import Model
import Peer
import Testing

@testable import Engine

@Suite("What waits while a peer is being adopted", .timeLimit(.minutes(1)))
struct AdoptionOrderTests {
  private func isEmpty(_ report: WorkerReport) -> Bool {
    [
      report.peers, report.tracks, report.paths, report.timers, report.homeRecords, report.fragments,
      report.pendingChecks,
    ].allSatisfy { $0 == 0 }
  }

  /// Commands go to a peer's home, wherever the peer is: on its way they come behind it, in the order in which they were given.
  @Test(arguments: [false, true])
  func `commands that come while a peer is being adopted reach it in their order`(isBefore: Bool) throws {
    let workers = try WorkerCoreTests.Workers(2)
    let publishers = (0..<3).map { _ in workers.add(home: 0, receive: [.video]) }
    let tracks = publishers.map { TrackKey(peer: $0, index: 0) }
    let a = workers.add(home: 0, send: [.video])
    workers.run(.assign(a, slot: 0, tracks[0]))
    // What is given up and asked for again ends as it was said last, in a section that a description brings in between.
    let commands: [Command] = [
      .assign(a, slot: 0, tracks[1]), .apply(a, WorkerCoreTests.Workers.media([], [.video, .video], 9)),
      .assign(a, slot: 1, tracks[0]), .assign(a, slot: 0, nil), .assign(a, slot: 0, tracks[2]),
      .assign(a, slot: 1, tracks[1]),
    ]
    // In the home's mailbox before the peer leaves, and after.
    if isBefore { for command in commands { workers.bridge.post(command) } }
    workers.handOn(a, from: 0, to: 1)
    #expect(workers.report(0).peers == 3 && workers.report(1).peers == 0, "it is on its way")
    if !isBefore { for command in commands { workers.bridge.post(command) } }
    workers.takeMessages(0)
    #expect(workers.report(1).peers == 0, "the commands wait where the peer does")
    workers.takeMessages(1)
    #expect(workers.source(a, slot: 0, on: 1) == tracks[2] && workers.source(a, slot: 1, on: 1) == tracks[1])
    workers.settle()
    #expect(workers.consumers(tracks[2], on: 1) == 1 && workers.consumers(tracks[1], on: 1) == 1)
    #expect(workers.consumers(tracks[0], on: 1) == nil, "nothing is relayed that no slot shows")
    workers.run(.close(a), .close(publishers[0]), .close(publishers[1]), .close(publishers[2]))
    for worker in 0..<2 { #expect(isEmpty(workers.report(worker))) }
  }

  @Test
  func `a close that comes while a peer is being adopted ends it, and nothing behind it brings it back`()
    throws
  {
    let workers = try WorkerCoreTests.Workers(2)
    let publisher = workers.add(home: 0, receive: [.video])
    let a = workers.add(home: 0, send: [.video])
    workers.handOn(a, from: 0, to: 1)
    workers.run(
      .assign(a, slot: 0, TrackKey(peer: publisher, index: 0)), .close(a),
      .assign(a, slot: 0, TrackKey(peer: publisher, index: 0)))
    #expect(workers.closed() == [a: .requested])
    workers.run(.close(publisher))
    for worker in 0..<2 { #expect(isEmpty(workers.report(worker))) }
  }
}
