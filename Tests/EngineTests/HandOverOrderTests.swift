import Model
import Peer
import Testing

@testable import Engine

extension WorkerCoreTests.Workers {
  /// A worker gives a peer up, by way of its home, as `go` does.
  fileprivate func give(_ key: PeerKey, from: Int, to worker: Int) throws {
    let found = cores[from].peers.find(key)
    let slot = try #require(found)
    let taken = cores[from].takeAway(slot, to: worker, now: now)
    let moved = try #require(taken)
    cores[from].away.insert(key)
    cores[from].post(.returned(moved, from: from, to: worker), to: key.home)
  }
  fileprivate func turn(_ worker: Int) { cores[worker].takeMessages(now: now) }
  fileprivate func held(_ key: PeerKey) -> Int? { cores[key.home].homes[key]?.held?.count }
}

/// What waits at a peer's home while it moves from one worker to another, and moves on before that is over.
@Suite("Commands at a second hand-over", .timeLimit(.minutes(2)))
struct HandOverOrderTests {
  typealias Workers = WorkerCoreTests.Workers

  /// Tracks that a slot is given in turn; the last one has to be what it shows.
  private func tracks(_ workers: Workers, _ count: Int) -> [TrackKey] {
    let publisher = workers.add(receive: Array(repeating: .audio, count: count))
    return (0..<count).map { TrackKey(peer: publisher, index: UInt16($0)) }
  }

  private func assign(_ workers: Workers, _ key: PeerKey, _ tracks: ArraySlice<TrackKey>) {
    for track in tracks { workers.bridge.post(.assign(key, slot: 0, track)) }
    workers.turn(0)
  }

  /// Where each group of commands comes in: before the first return, between the two, after the second.
  @Test(arguments: [
    [2, 0, 0], [0, 2, 0], [0, 0, 2], [1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1], [3, 3, 3],
  ])
  func `what waits reaches the peer in its order`(groups: [Int]) throws {
    let workers = try Workers(3)
    let key = workers.add(send: [.audio])
    let all = tracks(workers, groups.reduce(0, +))
    workers.move(key, from: 0, to: 1)
    var next = 0
    func group(_ number: Int) {
      assign(workers, key, all[next..<next + groups[number]])
      next += groups[number]
    }
    try workers.give(key, from: 1, to: 2)
    group(0)
    workers.turn(0)
    #expect(workers.held(key) != nil)
    group(1)
    // It arrives, and moves on before the home has had the last word of the first.
    workers.turn(2)
    try workers.give(key, from: 2, to: 1)
    workers.turn(0)
    group(2)
    workers.settle()
    #expect(workers.held(key) == nil && workers.report(0).movesUnderWay == 0)
    #expect(workers.source(key, slot: 0, on: 1) == all.last)
    #expect(workers.source(key, slot: 0, on: 2) == nil && workers.report(2).peers == 0)
    workers.run(.close(key))
    #expect(workers.closed()[key] == .requested)
    for worker in 0..<3 { #expect(workers.report(worker).movesUnderWay == 0) }
  }

  @Test func `what waits for a peer that moves on and is closed meanwhile is over with it`() throws {
    let workers = try Workers(3)
    let key = workers.add(receive: [.audio], send: [.audio])
    let all = tracks(workers, 2)
    workers.move(key, from: 0, to: 1)
    try workers.give(key, from: 1, to: 2)
    workers.turn(0)
    assign(workers, key, all[0..<1])
    workers.turn(2)
    try workers.give(key, from: 2, to: 1)
    workers.turn(0)
    workers.bridge.post(.close(key))
    assign(workers, key, all[1..<2])
    workers.settle()
    #expect(workers.closed() == [key: .requested])
    for worker in 0..<3 {
      let report = workers.report(worker)
      #expect(report.movesUnderWay == 0 && report.homeRecords == (worker == 0 ? 1 : 0))
    }
  }
}
