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

@Suite("Messages to a worker", .timeLimit(.minutes(2)))
struct MailboxTests {
  @Test func `a batch wakes once and comes in order`() {
    let wakes = Counter()
    let box = Mailbox<Int>(limit: 100, wake: { wakes.add() })
    for number in 0..<50 { #expect(box.post(number)) }
    #expect(wakes.value == 1)
    #expect(box.take() == Array(0..<50))
    #expect(box.take() == [])
    #expect(box.post(50))
    #expect(wakes.value == 2)
  }

  @Test func `the limit refuses without waking, and force goes beyond it`() {
    let wakes = Counter()
    let box = Mailbox<Int>(limit: 2, wake: { wakes.add() })
    #expect(box.post(1) && box.post(2))
    _ = box.take()
    #expect(box.post(3) && box.post(4))
    #expect(!box.post(5))
    #expect(box.post(6, force: true))
    #expect(wakes.value == 2)
    #expect(box.take() == [3, 4, 6])
    #expect(box.post(7))
  }

  @Test func `a poke wakes without a message`() {
    let wakes = Counter()
    let box = Mailbox<Int>(limit: 2, wake: { wakes.add() })
    box.poke()
    box.poke()
    #expect(wakes.value == 1)
    #expect(box.take() == [])
    box.poke()
    #expect(wakes.value == 2)
  }

  @Test func `closed it gives back what waits and takes nothing more`() {
    let wakes = Counter()
    let box = Mailbox<Int>(limit: 10, wake: { wakes.add() })
    #expect(box.post(1))
    #expect(box.close() == [1])
    #expect(!box.post(2))
    #expect(!box.post(3, force: true))
    #expect(box.take() == [] && box.close() == [])
    #expect(wakes.value == 1)
  }

  @Test func `no message is lost between many posters and one reader`() async {
    let wakes = Counter()
    let box = Mailbox<Int>(limit: .max, wake: { wakes.add() })
    let posters = 4
    let each = 20_000
    await withTaskGroup(of: [Int].self) { group in
      for poster in 0..<posters {
        group.addTask {
          for number in 0..<each { _ = box.post(poster * each + number) }
          return []
        }
      }
      group.addTask {
        // Looks only when woken, as a worker does.
        var seen = 0
        var got: [Int] = []
        while got.count < posters * each {
          if wakes.value > seen {
            seen = wakes.value
            got += box.take()
          } else {
            await Task.yield()
          }
        }
        return got
      }
      for await got in group where !got.isEmpty {
        #expect(got.count == posters * each)
        for poster in 0..<posters {
          let own = got.filter { $0 / each == poster }
          #expect(own == Array(poster * each..<(poster + 1) * each))
        }
      }
    }
  }
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
