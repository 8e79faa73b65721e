import Foundation
import Glibc
import HTTPClient
import Synchronization
import Testing

@Suite("Streams and servers that misbehave", .timeLimit(.minutes(2)))
struct StreamTests {
  private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

  /// Everything that happens until it is over, or 10 s are.
  private func events(of client: HTTPClient, enough: ([HTTPClient.Event]) -> Bool = { _ in false })
    -> [HTTPClient.Event]
  {
    var events: [HTTPClient.Event] = []
    for _ in 0..<100 where client.count > 0 && !enough(events) { events += client.wait(milliseconds: 100) }
    return events
  }

  private func bytes(_ events: [HTTPClient.Event]) -> String {
    String(
      decoding: events.flatMap { event -> [UInt8] in if case .came(_, let bytes) = event { bytes } else { [] }
      },
      as: UTF8.self)
  }

  private func stream(_ url: HTTPURL) -> HTTPClientRequest {
    var request = HTTPClientRequest(.get, url)
    request.isStream = true
    request.milliseconds = nil
    request.idleMilliseconds = 5_000
    return request
  }

  @Test func `bytes are handed over as they come, while the stream goes on`() throws {
    let goesOn = Mutex(true)
    let server = try PlainServer { client in
      PlainServer.say(Self.head + "data: 1\n\n", to: client)
      while goesOn.withLock(\.self) { usleep(10_000) }
      PlainServer.say("data: 2\n\n", to: client)
    }
    defer { server.stop() }
    let client = HTTPClient()
    let id = try client.begin(stream(server.url))
    let first = events(of: client) { bytes($0) == "data: 1\n\n" }
    guard case .began(id, let head) = first.first else {
      Issue.record("\(first)")
      return
    }
    #expect(head.status == 200 && head.type == "text/event-stream")
    goesOn.withLock { $0 = false }
    let rest = events(of: client)
    #expect(bytes(rest) == "data: 2\n\n" && rest.last == .ended(id))
  }

  @Test func `a stream that is silent for too long is given up, and one that says something isn't`() throws {
    let server = try PlainServer { client in
      PlainServer.say(Self.head, to: client)
      for _ in 0..<5 {
        usleep(200_000)
        PlainServer.say(":\n\n", to: client)
      }
      Thread.sleep(forTimeInterval: 3)
    }
    defer { server.stop() }
    let client = HTTPClient()
    var request = stream(server.url)
    request.idleMilliseconds = 700
    let id = try client.begin(request)
    let all = events(of: client)
    #expect(bytes(all) == String(repeating: ":\n\n", count: 5) && all.last == .failed(id, .timeout))
    #expect(client.count == 0)
  }

  @Test func `a refusal is a stream's answer as well, with its body`() throws {
    let server = try PlainServer { client in
      PlainServer.say("HTTP/1.1 410 Gone\r\nContent-Length: 4\r\n\r\ngone", to: client)
    }
    defer { server.stop() }
    let client = HTTPClient()
    let id = try client.begin(stream(server.url))
    let all = events(of: client)
    guard case .began(id, let head) = all.first else {
      Issue.record("\(all)")
      return
    }
    #expect(head.status == 410 && bytes(all) == "gone" && all.last == .ended(id))
  }

  @Test func `a stream that breaks off in the middle has failed, behind what came of it`() throws {
    let server = try PlainServer { client in
      PlainServer.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\ndata:\r\n", to: client)
    }
    defer { server.stop() }
    let client = HTTPClient()
    _ = try client.begin(stream(server.url))
    let all = events(of: client)
    guard case .failed(_, .connection) = all.last else {
      Issue.record("\(all)")
      return
    }
    #expect(bytes(all) == "data:")
  }

  @Test(arguments: [
    "", "nonsense\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
  ])
  func `what is no whole answer of HTTP's is an error`(said: String) throws {
    let server = try PlainServer { client in PlainServer.say(said, to: client) }
    defer { server.stop() }
    let error = #expect(throws: HTTPClientError.self) {
      try HTTPClient().answer(to: HTTPClientRequest(.get, server.url))
    }
    guard case .connection = error else {
      Issue.record("\(said): \(error.debugDescription)")
      return
    }
  }

  @Test func `a head without end is refused`() throws {
    let server = try PlainServer { client in
      guard PlainServer.say("HTTP/1.1 200 OK\r\n", to: client) else { return }
      while PlainServer.say("X-Field: " + String(repeating: "x", count: 1_000) + "\r\n", to: client) {}
    }
    defer { server.stop() }
    let error = #expect(throws: HTTPClientError.self) {
      try HTTPClient().answer(to: HTTPClientRequest(.get, server.url))
    }
    #expect(error == .tooLarge(limit: 65_536))
  }

  @Test func `interim answers are passed over`() throws {
    let server = try PlainServer { client in
      PlainServer.say(
        "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        to: client)
    }
    defer { server.stop() }
    let answer = try HTTPClient().answer(to: HTTPClientRequest(.get, server.url))
    #expect(answer.head.status == 200 && answer.head["link"] == nil && answer.body == Array("ok".utf8))
  }

  @Test func `where nothing listens, the error says so`() throws {
    let server = try PlainServer { _ in }
    server.stop()
    let error = #expect(throws: HTTPClientError.self) {
      try HTTPClient().answer(to: HTTPClientRequest(.get, server.url))
    }
    #expect(
      error.map { "\($0)" }?.contains("refused") == true || error.map { "\($0)" }?.contains("connect") == true
    )
  }

  @Test func `a server that says nothing at all is given up in time`() throws {
    let server = try PlainServer { _ in Thread.sleep(forTimeInterval: 3) }
    defer { server.stop() }
    var request = HTTPClientRequest(.get, server.url)
    request.milliseconds = 300
    #expect(throws: HTTPClientError.timeout) { try HTTPClient().answer(to: request) }
  }
}
