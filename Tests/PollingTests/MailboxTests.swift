import Polling
import Synchronization
import Testing

/// Counts calls from any thread.
final class Counter: Sendable {
  private let count = Atomic<Int>(0)
  var value: Int { count.load(ordering: .sequentiallyConsistent) }
  func add() { count.wrappingAdd(1, ordering: .sequentiallyConsistent) }
}

@Suite("Messages to a thread", .timeLimit(.minutes(2)))
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

  @Test func `an owner that is awake isn't woken, and looks again before it waits`() {
    let wakes = Counter()
    let box = Mailbox<Int>(limit: 10, wake: { wakes.add() })
    #expect(box.beginWait(), "nothing came yet")
    #expect(box.post(1) && wakes.value == 1, "it waits")
    #expect(box.endWait())
    #expect(box.post(2) && wakes.value == 1, "it is awake")
    #expect(box.take() == [1, 2])
    #expect(box.post(3))
    box.poke()
    #expect(!box.beginWait(), "3 came since it looked")
    #expect(box.endWait() && box.take() == [3])
    _ = box.endWait()
    #expect(box.beginWait())
    #expect(!box.endWait(), "a datagram ended the wait, or its time had come")
  }

  @Test func `an owner that waits only as it says misses nothing of many posters`() async {
    // A wait that isn't ended when something comes would never end.
    let (waits, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let box = Mailbox<Int>(limit: .max, wake: { wake.yield() })
    let (posters, each) = (4, 20_000)
    await withTaskGroup(of: Int.self) { group in
      for _ in 0..<posters {
        group.addTask {
          for number in 0..<each {
            _ = box.post(number)
            if number % 64 == 0 { await Task.yield() }
          }
          return 0
        }
      }
      group.addTask {
        var got = 0
        var waiting = waits.makeAsyncIterator()
        while got < posters * each {
          if box.beginWait() { await waiting.next() }
          if box.endWait() { got += box.take().count }
        }
        return got
      }
      var total = 0
      for await got in group { total += got }
      #expect(total == posters * each)
    }
  }

  @Test func `a closed mailbox gives back what waits and takes nothing more`() {
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
