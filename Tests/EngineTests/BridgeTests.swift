import Model
import Peer
import Synchronization
import Testing

@testable import Engine

/// Counts calls from any thread.
final class Counter: Sendable {
  private let count = Atomic<Int>(0)
  var value: Int { count.load(ordering: .sequentiallyConsistent) }
  func add() { count.wrappingAdd(1, ordering: .sequentiallyConsistent) }
}

@Suite("Events on their way up", .timeLimit(.minutes(2)))
struct EventTableTests {
  let a = PeerKey(home: 0, serial: 1)
  let b = PeerKey(home: 3, serial: 2)

  @Test func `what happens to a peer is one entry, in the order of first events`() {
    let wakes = Counter()
    let table = EventTable(wake: { wakes.add() })
    table.note(b) { $0.connected = .aeadAES128GCM }
    for track in [3, 1, 3] as [UInt16] { table.note(a) { $0.startedTracks[track] = .vp8 } }
    table.note(b) { $0.closed = .connectionLost }
    #expect(wakes.value == 1, "only the first wakes")
    let events = table.drain()
    #expect(events.map(\.peer) == [b, a])
    #expect(events[0].connected == .aeadAES128GCM && events[0].closed == .connectionLost)
    #expect(events[1].startedTracks == [1: .vp8, 3: .vp8] && events[1].closed == nil)
    #expect(table.drain().isEmpty)
    table.note(a) { $0.closed = .requested }
    #expect(wakes.value == 2)
    #expect(table.drain().first?.startedTracks == [:])
  }

  @Test func `a bridge posts to the peer's home, and reports of a stopped worker don't wait`() {
    let woken = Mutex<[Int]>([])
    let bridge = Bridge(workers: 3, wake: { worker in woken.withLock { $0.append(worker) } }, eventsReady: {})
    bridge.post(.close(PeerKey(home: 2, serial: 1)))
    // A home that doesn't exist is no reason to trap.
    bridge.post(.close(PeerKey(home: 200, serial: 1)))
    bridge.post(.close(PeerKey(home: 0, serial: 1)))
    #expect(woken.withLock { $0 } == [2, 0])
    let answers = Mutex<[Int]>([])
    #expect(bridge.report(worker: 1) { report in answers.withLock { $0.append(report.worker) } })
    bridge.close(worker: 1)
    #expect(!bridge.report(worker: 1) { report in answers.withLock { $0.append(-report.worker) } })
    #expect(answers.withLock { $0 } == [1])
  }

  @Test func `a fragment of ours is fifteen bytes`() {
    #expect(UfragKey("a01newnewnewnew") != nil)
    #expect(UfragKey("a01newnewnewnew") == UfragKey("a01newnewnewnew"))
    #expect(UfragKey("a01newnewnewnew") != UfragKey("a01newnewnewneW"))
    #expect(UfragKey("a01newnewnewnew") != UfragKey("A01newnewnewnew"))
    for other in ["", "a01newnewnewne", "a01newnewnewneww", "a01newnewnewné"] {
      #expect((UfragKey(other) == nil) == (other.utf8.count != 15))
    }
  }
}
