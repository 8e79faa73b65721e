import Glibc
import HTTPServer
import Model
import Testing

@Suite("Counters, over real sockets", .timeLimit(.minutes(2)))
struct ReportTests {
  private func start(_ change: (inout HTTPLimits) -> Void = { _ in }) throws -> HTTPServer {
    var limits = HTTPLimits()
    change(&limits)
    return try HTTPServer(
      configuration: HTTPServerConfiguration(listeners: loopback, limits: limits), handler: EchoHandler())
  }

  @Test func `answers, refusals and messages are counted by what they were`() async throws {
    let server = try start()
    let address = server.addresses[0]
    let socket = try await onThread {
      for line in ["GET /", "GET /missing", "BREW /"] {
        let client = try TestClient(address)
        client.send("\(line) HTTP/1.1\r\nHost: h\r\n\r\n")
        _ = try client.answer()
      }
      let socket = try TestClient(address)
      _ = try socket.open("/")
      socket.send(clientFrame(1, Array("hello".utf8)))
      _ = try socket.text()
      return Held(client: socket)
    }
    var report = try #require(await server.report(within: .seconds(5)))
    #expect(report.webSockets == 1 && report.connections >= 1 && report.counters.accepted == 4)
    #expect(report.counters.answers == [200: 1, 404: 1, 501: 1, 101: 1])
    #expect(report.counters.refusedRequests == ["unknownMethod": 1])
    #expect(report.counters.webSocketsOpened == 1 && report.counters.webSocketsClosed.isEmpty)
    #expect(report.counters.messagesReceived == 1 && report.counters.messageBytesReceived == 5)
    #expect(report.counters.messagesSent == 1 && report.counters.messageBytesSent == 10)
    try await onThread {
      socket.client.send(clientFrame(1, Array("close".utf8)))
      let code = try socket.client.closeCode()
      #expect(code == 4005)
    }
    report = try #require(await server.report(within: .seconds(5)))
    #expect(report.counters.webSocketsClosed == [4005: 1])
    await server.shutdown(grace: .milliseconds(100))
    #expect(await server.report(within: .seconds(5)) == nil)
  }

  @Test func `a refused head is counted by its reason, in any layer`() async throws {
    let server = try start()
    let addresses = server.addresses
    try await onThread {
      // Half of a head each, of another address.
      let others = try (0..<5).map { _ in try TestClient(addresses[1]) }
      for other in others { other.send("POST /p HTTP/1.1\r\nContent-Length: 1\r\n") }
      usleep(20_000)
      for (field, status) in [
        // Found by libmicrohttpd, which says no more than that something is wrong.
        ("Content-Length: x", 400), ("Content-Length: 99999999999999999999999", 413),
        (String(repeating: "X: y\r\n", count: 95) + "Cookie: " + String(repeating: "x", count: 14_500), 431),
        // Found by the server.
        ("Content-Length: 2000000", 413), ("Transfer-Encoding: gzip", 501), ("Host: h", 400),
      ] {
        let client = try TestClient(addresses[0])
        client.send("POST / HTTP/1.1\r\nHost: h\r\n\(field)\r\n\r\n")
        #expect(try client.answer().status == status, "\(field.prefix(40))")
      }
      for other in others {
        other.send("Host: h\r\n\r\na")
        #expect(try other.answer().status == 200)
      }
    }
    let counters = try #require(await server.report(within: .seconds(5))).counters
    #expect(
      counters.refusedRequests == [
        "ambiguousLength": 1, "bodyTooLarge": 2, "headTooLarge": 1, "unknownTransferCoding": 1,
        "hostMissingOrRepeated": 1,
      ])
    #expect(counters.answers == [200: 5, 400: 2, 413: 2, 431: 1, 501: 1])
    await server.shutdown(grace: .milliseconds(100))
  }

  @Test(arguments: ["Content-Length: x", "Content-Length: 1\r\nContent-Length: 2"])
  func `a request whose head is refused counts for its address until its connection has gone`(
    fields: String
  ) async throws {
    let server = try start {
      $0.connectionsPerAddress = 1
      $0.closeTime = .seconds(30)
    }
    let addresses = server.addresses
    try await onThread {
      let refused = Held(client: try TestClient(addresses[0]))
      refused.client.send("POST / HTTP/1.1\r\nHost: h\r\n\(fields)\r\n\r\n")
      #expect(try refused.client.answer().status == 400)
      #expect(try TestClient(addresses[0]).isClosed(), "the address has one that lingers")
      let other = try TestClient(addresses[1])
      other.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try other.answer().status == 200, "another address has not")
      refused.client.reset()
      let isFree = waitUntil {
        guard let next = try? TestClient(addresses[0]) else { return false }
        next.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        return (try? next.answer().status) == 200
      }
      #expect(isFree, "the place is given back")
    }
    let counters = try #require(await server.report(within: .seconds(5))).counters
    #expect(counters.refusedPerAddress >= 1 && counters.answers[400] == 1)
    await server.shutdown(grace: .milliseconds(100))
  }

  @Test func `connections too many and heads too late are counted`() async throws {
    let server = try start {
      $0.connections = 2
      $0.connectionsPerAddress = 1
      $0.headTime = .milliseconds(100)
    }
    let addresses = server.addresses
    try await onThread {
      let first = try TestClient(addresses[0])
      first.send("GET / HT")
      #expect(try TestClient(addresses[0]).isClosed())
      let second = try TestClient(addresses[1])
      second.send("GET / HTTP/1.1\r\n")
      #expect(try TestClient(addresses[1]).isClosed())
      #expect(first.isClosed() && second.isClosed())
    }
    let counters = try #require(await server.report(within: .seconds(5))).counters
    #expect(counters.accepted == 2 && counters.refusedPerAddress == 1 && counters.refusedFull == 1)
    #expect(counters.lateHeads >= 1)
    await server.shutdown(grace: .milliseconds(100))
  }
}

private struct Held: @unchecked Sendable { let client: TestClient }
