import Foundation
import Glibc
import HTTPClient
import Synchronization
import Testing

@Suite("Many streams of one client", .timeLimit(.minutes(2)))
struct ManyStreamsTests {
  private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

  private func stream(_ url: HTTPURL) -> HTTPClientRequest {
    var request = HTTPClientRequest(.get, url)
    request.isStream = true
    request.milliseconds = nil
    request.idleMilliseconds = 20_000
    return request
  }

  /// Each gets its own number, and some of them more while the others are silent.
  @Test func `what one of many says is heard, and nothing of another's`() throws {
    let count = 60
    let arrived = Mutex(0)
    let speaking = Mutex(Set<Int>())
    let server = try PlainServer { client in
      let number = arrived.withLock { count in
        count += 1
        return count
      }
      PlainServer.say(Self.head + "data: \(number)\n\n", to: client)
      while !speaking.withLock({ $0.contains(number) }) { usleep(5_000) }
      PlainServer.say("data: again \(number)\n\n", to: client)
    }
    defer {
      speaking.withLock { $0.formUnion(1...count) }
      server.stop()
    }
    let client = HTTPClient()
    var ids: Set<HTTPClient.TransferID> = []
    for _ in 0..<count { ids.insert(try client.begin(stream(server.url))) }
    var said: [HTTPClient.TransferID: String] = [:]
    var ended: Set<HTTPClient.TransferID> = []
    let deadline = Date() + 30
    func read(until holds: () -> Bool) {
      while !holds(), Date() < deadline {
        for event in client.wait(milliseconds: 100) {
          switch event {
          case .came(let id, let bytes): said[id, default: ""] += String(decoding: bytes, as: UTF8.self)
          case .ended(let id): ended.insert(id)
          case .began, .answered: break
          case .failed(let id, let error): Issue.record("\(id): \(error)")
          }
        }
      }
    }
    read { said.count == count }
    #expect(Set(said.keys) == ids)
    #expect(Set(said.values) == Set((1...count).map { "data: \($0)\n\n" }))
    let last = said
    speaking.withLock { $0 = [7, 23, 59] }
    read { ended.count == 3 }
    let changed = said.filter { last[$0.key] != $0.value }
    #expect(Set(changed.values) == Set([7, 23, 59].map { "data: \($0)\n\ndata: again \($0)\n\n" }))
    #expect(Set(changed.keys) == ended && client.count == count - 3)
    for id in ids.subtracting(ended) { client.cancel(id) }
    #expect(client.count == 0 && client.wait(milliseconds: 50).isEmpty)
  }

  @Test func `another thread ends a wait, also one that hasn't begun`() throws {
    let waker = HTTPClientWaker()
    let client = HTTPClient(waker: waker)
    waker.wake()
    let began = ContinuousClock.now
    #expect(client.wait(milliseconds: 30_000).isEmpty)
    Thread {
      usleep(50_000)
      waker.wake()
    }.start()
    #expect(client.wait(milliseconds: 30_000).isEmpty)
    #expect(.now - began < .seconds(20))
    // Woken once, it waits again.
    let second = ContinuousClock.now
    #expect(client.wait(milliseconds: 100).isEmpty)
    #expect(.now - second >= .milliseconds(95))
  }

  @Test func `a request is answered beside streams that are silent`() throws {
    let goesOn = Mutex(true)
    let server = try PlainServer { client in
      guard goesOn.withLock(\.self) else { return }
      PlainServer.say(Self.head, to: client)
      while goesOn.withLock(\.self) { usleep(5_000) }
    }
    defer {
      goesOn.withLock { $0 = false }
      server.stop()
    }
    let other = try PlainServer { client in
      PlainServer.say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", to: client)
    }
    defer { other.stop() }
    let client = HTTPClient()
    for _ in 0..<20 { _ = try client.begin(stream(server.url)) }
    for _ in 0..<20 {
      let id = try client.begin(HTTPClientRequest(.get, other.url))
      var answer: HTTPAnswer?
      let deadline = Date() + 10
      while answer == nil, Date() < deadline {
        for case .answered(let answered, let found) in client.wait(milliseconds: 100) where answered == id {
          answer = found
        }
      }
      #expect(answer?.body == Array("ok".utf8))
    }
    #expect(client.count == 20)
  }
}
