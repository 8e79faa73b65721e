import Glibc
import HTTPServer
import Model
import Testing

@Suite("How many answers are produced over time, and their end with the server", .timeLimit(.minutes(2)))
struct StreamLimitTests {
  private func start(
    _ handler: StreamHandler, _ change: (inout HTTPLimits) -> Void = { _ in }
  ) throws -> HTTPServer {
    var limits = HTTPLimits()
    change(&limits)
    return try HTTPServer(
      configuration: HTTPServerConfiguration(listeners: loopback, limits: limits), handler: handler)
  }

  @Test
  func `one too many of an address, or in all, is refused, readable by pages, and free when another goes`()
    async throws
  {
    let handler = StreamHandler()
    let server = try start(handler) {
      $0.streams.total = 3
      $0.streams.perAddress = 2
    }
    let addresses = server.addresses
    let clients = try await onThread {
      let clients = Held(try [0, 0, 1].map { try TestClient(addresses[$0]) })
      for client in clients.all { _ = try StreamTests.open(client, handler) }
      for (address, status, problem) in [(0, 503, "full"), (1, 503, "full")] {
        let more = try TestClient(addresses[address])
        more.send(StreamTests.request("/stream"))
        let answer = try more.answer()
        #expect(answer.status == status && answer.body.contains("urn:roost:problem:\(problem)"))
        #expect(answer.head.contains("retry-after: 5\r\n") && answer.head.contains("vary: accept\r\n"))
        #expect(answer.head.contains("access-control-allow-origin: *\r\n"))
        // The connection is as good as before.
        more.send(StreamTests.request("/echo"))
        #expect(try more.answer().status == 200)
      }
      clients.all[2].reset()
      let isFull = waitUntil {
        guard let more = try? TestClient(addresses[0]) else { return false }
        more.send(StreamTests.request("/stream"))
        guard let answer = try? more.answer() else { return false }
        return answer.status == 429 && answer.body.contains("too-many-streams")
      }
      #expect(isFull, "the other address has one less, this one as many as it may")
      let other = try TestClient(addresses[1])
      _ = try StreamTests.open(other, handler)
      return Held(clients.all + [other])
    }
    let report = try #require(await server.report(within: .seconds(5)))
    #expect(report.streams == 3 && report.counters.streams.begun == 4)
    #expect(report.counters.streams.refusedFull >= 2 && report.counters.streams.refusedPerAddress >= 1)
    #expect(report.counters.streams.ended == ["clientGone": 1, "finished": 0, "shutdown": 0, "stalled": 0])
    await server.shutdown(grace: .seconds(1))
    withExtendedLifetime(clients) {}
  }

  @Test func `behind a trusted proxy the client's own address counts`() async throws {
    let handler = StreamHandler()
    try await withServer(handler) {
      $0.streams.perAddress = 1
      $0.proxies = [AddressPrefix("127.0.0.0/8")].compactMap(\.self)
    } _: { addresses in
      var clients: [TestClient] = []
      for (client, status) in [("192.0.2.1", 200), ("192.0.2.2", 200), ("192.0.2.1", 429)] {
        clients.append(try TestClient(addresses[0]))
        clients.last?.send(StreamTests.request("/stream", "GET", "X-Forwarded-For: \(client)\r\n"))
        #expect(try clients.last?.answer().status == status)
      }
    }
  }

  @Test func `what ended them is counted, with the bytes that were taken`() async throws {
    let handler = StreamHandler()
    let server = try start(handler) { $0.writeTime = .milliseconds(200) }
    let address = server.addresses[0]
    let clients = try await onThread {
      let whole = try TestClient(address)
      let source = try StreamTests.open(whole, handler)
      source.say("12345")
      source.end()
      #expect(try whole.readToEnd().count == 17 + 5)
      let stuck = try TestClient(address, receiveBuffer: 4_096)
      let flood = try StreamTests.open(stuck, handler)
      flood.flood()
      #expect(waitUntil { flood.endings == [.stalled] })
      let gone = try TestClient(address)
      _ = try StreamTests.open(gone, handler)
      gone.reset()
      return Held([stuck])
    }
    var report = try #require(await server.report(within: .seconds(5)))
    for _ in 0..<100 where report.streams > 0 {
      try await Task.sleep(for: .milliseconds(20))
      report = try #require(await server.report(within: .seconds(5)))
    }
    #expect(report.streams == 0 && report.counters.answers[200] == 3)
    #expect(report.counters.streams.ended == ["finished": 1, "stalled": 1, "clientGone": 1, "shutdown": 0])
    #expect(report.counters.streams.bytes > 100_000)
    await server.shutdown(grace: .seconds(1))
    withExtendedLifetime(clients) {}
  }

  @Test func `a shutdown has each say its last words, and lets none begin`() async throws {
    let handler = StreamHandler()
    let server = try start(handler) { $0.closeTime = .milliseconds(500) }
    let address = server.addresses[0]
    let clients = try await onThread {
      let clients = Held([
        try TestClient(address), try TestClient(address, receiveBuffer: 4_096), try TestClient(address),
      ])
      _ = try StreamTests.open(clients.all[0], handler)
      try StreamTests.open(clients.all[1], handler).flood()
      clients.all[2].send(StreamTests.request("/slow"))
      #expect(waitUntil { handler.started.value == 1 })
      handler.sources[0].say("the rest ", raising: false)
      return clients
    }
    let start = ContinuousClock.now
    async let stopped: Void = server.shutdown(grace: .seconds(5))
    try await onThread {
      let (text, isWhole) = unchunked(try clients.all[0].readToEnd())
      #expect(isWhole && text == "the rest farewell")
      handler.gate.open()
      let answer = try clients.all[2].answer()
      #expect(answer.status == 503 && answer.body.contains("urn:roost:problem:draining"))
      #expect(answer.head.contains("retry-after: 5\r\n"))
    }
    await stopped
    #expect(ContinuousClock.now - start < .seconds(3), "one who doesn't read holds no other up")
    try await onThread {
      let (text, isWhole) = unchunked(try clients.all[1].readToEnd())
      #expect(isWhole && text.hasSuffix(".too slow"))
    }
    handler.forget()
    #expect(handler.gone.value == 3)
  }

  @Test func `a shutdown without patience cuts them off, and an end in the middle of one leaves nothing`()
    async throws
  {
    for _ in 0..<5 {
      let handler = StreamHandler()
      let server = try start(handler)
      let address = server.addresses[0]
      let clients = try await onThread {
        let clients = Held(try (0..<10).map { _ in try TestClient(address, receiveBuffer: 4_096) })
        for client in clients.all { try StreamTests.open(client, handler).flood() }
        return clients
      }
      await server.shutdown(grace: .zero)
      handler.forget()
      #expect(handler.gone.value == clients.all.count)
    }
  }
}

/// Carried from one thread to the next, never used by two at once.
private struct Held: @unchecked Sendable {
  let all: [TestClient]
  init(_ all: [TestClient]) { self.all = all }
}
