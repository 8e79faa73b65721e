import CSystem
import Crypto
import Foundation
import Glibc
import ICE
import Model
import Peer
import Polling
import Synchronization
import Testing

@testable import Engine

@Suite("Workers that stand in for each other", .timeLimit(.minutes(1)))
struct StandInTests {
  /// Two stations whose threads the test plays.
  private struct Pair: Sendable {
    let bridge: Bridge
    let stations: [WorkerStation]
    let wakeups = [Wakeup(), Wakeup()]
    let clock = Clock()

    init() throws {
      let wakeups = wakeups
      let bridge = Bridge(workers: 2, wake: { wakeups[$0].signal() }, eventsReady: {})
      let dtls = try MediaEngineTests.context()
      let clock = clock
      stations = try (0..<2).map { index in
        let socket = UDPSocketBox(try UDPSocket(port: 0, receiveBuffer: 0, sendBuffer: 0))
        return WorkerStation(
          WorkerThread.Start(
            index: index, bridge: bridge, limits: WorkerCore.Limits(peers: 4), clock: clock, dtls: dtls,
            random: .seeded(state: UInt64(index)), publisherMaxBitrate: 1_000_000, processor: nil,
            gathersFor: .zero),
          sockets: WorkerSockets([socket]), wakeup: wakeups[index])
      }
      self.bridge = bridge
    }

    /// Whether that worker's thread was woken since the last look.
    func isWoken(_ worker: Int) -> Bool {
      var value: UInt64 = 0
      return read(wakeups[worker].descriptor, &value, 8) == 8
    }

    /// A turn of the worker's own thread, to which nothing came by its sockets.
    func turn(_ worker: Int) { _ = stations[worker].turn { _, _ in false } }

    /// Asks for a report of the second worker; nil as long as it has not answered.
    func ask() -> Answer {
      let answer = Answer()
      bridge.report(worker: 1) { report in answer.value.withLock { $0 = report } }
      return answer
    }
  }

  private final class Progress: Sendable {
    let isOver = Atomic(false)
    let hasEnded = Atomic(false)
    let asked = Atomic(0)
    let answered = Atomic(0)
    let lostWakes = Atomic(0)
  }

  private final class Answer: Sendable {
    let value = Mutex<WorkerReport?>(nil)
    var report: WorkerReport? { value.withLock { $0 } }
  }

  @Test func `what is left for a worker that waits is done by the one that left it`() throws {
    let pair = try Pair()
    pair.stations[1].open(niceness: 0)
    #expect(pair.stations[1].beginWait() == .never)
    let answer = pair.ask()
    #expect(pair.isWoken(1) && answer.report == nil, "the control plane has no time for it")
    pair.stations[1].call(pair.stations, standsIn: true)
    #expect(answer.report?.thread.standIns == 1)
    #expect(!pair.isWoken(1), "nothing is left to be done")
    // Its own thread finds nothing when it comes.
    pair.turn(1)
    let later = pair.ask()
    pair.turn(1)
    #expect(later.report?.thread.standIns == 1)
  }

  @Test func `a worker that is awake, not begun or over is woken, and does its work itself`() throws {
    let pair = try Pair()
    for isOpen in [false, true] {
      if isOpen {
        pair.stations[1].open(niceness: 0)
        // It waits, and has been woken by something else.
        _ = pair.stations[1].beginWait()
        pair.turn(1)
      }
      let answer = pair.ask()
      pair.stations[1].call(pair.stations, standsIn: true)
      #expect(answer.report == nil)
      // It mustn't wait: something has come.
      #expect(pair.stations[1].beginWait() == nil)
      pair.turn(1)
      #expect(answer.report?.thread.standIns == 0)
    }
    pair.stations[1].close()
    let last = pair.ask()
    pair.stations[1].call(pair.stations, standsIn: true)
    #expect(last.report == nil)
  }

  @Test func `a busy worker wakes the other instead`() throws {
    let pair = try Pair()
    pair.stations[1].open(niceness: 0)
    _ = pair.stations[1].beginWait()
    pair.stations[1].call(pair.stations, standsIn: false)
    #expect(pair.isWoken(1))
    let answer = pair.ask()
    #expect(!pair.isWoken(1), "once is enough until it has looked")
    pair.turn(1)
    #expect(answer.report?.thread.standIns == 0)
  }

  @Test func `a thread that waits is woken where its deadline has come nearer meanwhile`() throws {
    let pair = try Pair()
    pair.stations[1].open(niceness: 0)
    #expect(pair.stations[1].beginWait() == .never)
    var random = RandomSource.seeded(state: 3)
    pair.bridge.post(
      .add(
        PeerSetup(
          key: PeerKey(home: 1, serial: 1), local: .generate(homeWorker: 1, random: &random),
          remote: RemoteTransport(
            credentials: ICECredentials(ufrag: "far", password: "farfarfarfarfarfarfarfar"),
            fingerprints: [Fingerprint(algorithm: .sha256, digest: Array(repeating: 1, count: 32))],
            role: .server),
          media: AgreedMedia(), verification: .always, reportSSRC: 1, createdAt: pair.clock.now)))
    _ = pair.isWoken(1)
    pair.stations[1].call(pair.stations, standsIn: true)
    #expect(pair.isWoken(1))
    pair.turn(1)
    let deadline = try #require(pair.stations[1].beginWait())
    #expect(deadline < pair.clock.now + .seconds(60))
    // What changes nothing about it leaves the thread alone.
    let answer = pair.ask()
    _ = pair.isWoken(1)
    pair.stations[1].call(pair.stations, standsIn: true)
    #expect(answer.report?.peers == 1 && !pair.isWoken(1))
  }

  @Test func `no message is lost between a thread that waits and turns and others that call it`() async throws
  {
    let pair = try Pair()
    pair.stations[1].open(niceness: 0)
    let progress = Progress()
    let asked = 20_000
    // Threads of their own: a task may lie behind other tests for as long as a lost wake would.
    let owner = Thread {
      while !progress.isOver.load(ordering: .relaxed) {
        if pair.stations[1].beginWait() != nil { Self.wait(pair, progress) }
        pair.turn(1)
      }
      progress.hasEnded.store(true, ordering: .releasing)
    }
    let caller = Thread {
      for number in 1...asked {
        progress.asked.store(number, ordering: .sequentiallyConsistent)
        pair.bridge.report(worker: 1) { _ in progress.answered.wrappingAdd(1, ordering: .relaxed) }
        if number % 3 != 0 { pair.stations[1].call(pair.stations, standsIn: true) }
        // Now and then it waits until all is done, so that the other waits as well.
        while number % 7 == 0, progress.answered.load(ordering: .relaxed) < number { sched_yield() }
      }
      while progress.answered.load(ordering: .relaxed) < asked { sched_yield() }
      progress.isOver.store(true, ordering: .relaxed)
      pair.wakeups[1].signal()
    }
    owner.start()
    caller.start()
    while !progress.hasEnded.load(ordering: .acquiring) { try await Task.sleep(for: .milliseconds(5)) }
    #expect(progress.answered.load(ordering: .relaxed) == asked)
    #expect(progress.lostWakes.load(ordering: .relaxed) == 0)
  }

  /// Waits as a worker's thread does.
  ///
  /// A wake that got lost shows as a question that was there before the wait and lies
  /// unanswered for seconds, which nothing but the end of this wait gets done.
  private static func wait(_ pair: Pair, _ progress: Progress) {
    var set = pollfd(fd: pair.wakeups[1].descriptor, events: Int16(POLLIN), revents: 0)
    var unanswered = 0
    while poll(&set, 1, 1_000) == 0 {
      let answered = progress.answered.load(ordering: .relaxed)
      let lies = answered < progress.asked.load(ordering: .sequentiallyConsistent)
      unanswered = lies ? unanswered + 1 : 0
      guard unanswered < 5 else {
        progress.lostWakes.wrappingAdd(1, ordering: .relaxed)
        break
      }
    }
    pair.wakeups[1].clear()
  }
}
