import Crypto
import Glibc
import HTTPServer
import Model
import Testing

@Suite("Answers that are produced over time, over real sockets", .timeLimit(.minutes(2)))
struct StreamTests {
  static func request(
    _ path: String, _ method: String = "GET", _ fields: String = "", version: String = "1.1"
  )
    -> String
  {
    "\(method) \(path) HTTP/\(version)\r\nHost: h\r\n\(fields)\r\n"
  }

  /// - Returns: the source of the answer that was asked for last.
  static func open(
    _ client: TestClient, _ handler: StreamHandler, _ path: String = "/stream"
  ) throws -> TestSource {
    let before = handler.sources.count
    client.send(request(path))
    let answer = try client.answer()
    guard answer.status == 200, waitUntil({ handler.sources.count > before }) else {
      throw TestClient.ClientError.ended
    }
    return handler.sources[before]
  }

  @Test func `each piece comes as it is said, and the end of the body with that of the connection`()
    async throws
  {
    let handler = StreamHandler()
    try await withServer(handler) { addresses in
      for address in addresses {
        let client = try TestClient(address)
        // On a connection that was used before.
        client.send(Self.request("/echo"))
        #expect(try client.answer().status == 200)
        client.send(Self.request("/begun"))
        let answer = try client.answer()
        #expect(answer.status == 200 && answer.head.contains("transfer-encoding: chunked\r\n"))
        #expect(
          answer.head.contains("connection: close\r\n")
            && answer.head.contains("content-type: text/plain\r\n"))
        #expect(answer.head.contains("date: ") && answer.head.contains(" GMT\r\n"))
        #expect(!answer.head.contains("content-length"))
        let source = try #require(handler.sources.last)
        #expect(String(decoding: try client.read(18), as: UTF8.self) == "00000006\r\nbegun \r\n")
        for word in ["one", "two", "six"] {
          source.say(word)
          #expect(String(decoding: try client.read(15), as: UTF8.self) == "00000003\r\n\(word)\r\n")
        }
        source.end()
        #expect(try client.readToEnd() == Array("0\r\n\r\n".utf8))
      }
    }
  }

  @Test func `HEAD has the head alone, HTTP 1.0 the pieces as they are`() async throws {
    let handler = StreamHandler()
    try await withServer(handler) { addresses in
      let head = try TestClient(addresses[0])
      head.send(Self.request("/stream", "HEAD"))
      #expect(try head.answer(head: true).head.contains("transfer-encoding: chunked\r\n"))
      #expect(try head.readToEnd().isEmpty)
      handler.forget()
      #expect(waitUntil { handler.gone.value == 1 })

      let old = try TestClient(addresses[0])
      old.send(Self.request("/begun", version: "1.0"))
      #expect(try !old.answer().head.contains("transfer-encoding"))
      let source = try #require(handler.sources.last)
      source.say("and on")
      source.end()
      #expect(try old.readToEnd() == Array("begun and on".utf8))
    }
  }

  @Test func `what was said before the answer began is not lost, and one signal reaches all who wait for it`()
    async throws
  {
    let handler = StreamHandler()
    try await withServer(handler) { addresses in
      let clients = try (0..<200).map { _ in try TestClient(addresses[0]) }
      for client in clients {
        client.send(Self.request("/shared"))
        _ = try client.answer()
      }
      #expect(waitUntil { handler.sources.count == clients.count })
      for source in handler.sources { source.say("hello", raising: false) }
      handler.sources[0].signal.raise()
      for client in clients {
        #expect(String(decoding: try client.read(17), as: UTF8.self) == "00000005\r\nhello\r\n")
      }
      for source in handler.sources { source.end() }
      for client in clients { #expect(try client.readToEnd() == Array("0\r\n\r\n".utf8)) }
      // None waits any more: raising it does nothing, and the next one is heard again.
      handler.sources[0].signal.raise()
      let last = try TestClient(addresses[0])
      let source = try Self.open(last, handler, "/shared")
      source.say("again")
      #expect(String(decoding: try last.read(17), as: UTF8.self) == "00000005\r\nagain\r\n")
    }
  }

  @Test func `those who wait and those who don't read cost no processor`() async throws {
    let handler = StreamHandler()
    try await withServer(handler) { addresses in
      var clients = try (0..<100).map { _ in try TestClient(addresses[0]) }
      for client in clients { _ = try Self.open(client, handler) }
      let stuck = try TestClient(addresses[0], receiveBuffer: 4_096)
      try Self.open(stuck, handler).flood()
      clients.append(stuck)
      usleep(300_000)
      let asked = handler.sources.map(\.asked)
      var before = timespec()
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before)
      usleep(300_000)
      var after = timespec()
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after)
      let used = (after.tv_sec - before.tv_sec) * 1_000_000_000 + after.tv_nsec - before.tv_nsec
      #expect(used < 60_000_000, "\(used) ns of 300 ms")
      #expect(handler.sources.map(\.asked) == asked)
      #expect(clients.count == 101)
    }
  }

  @Test(arguments: [false, true])
  func
    `a client that doesn't read is cut off: what it gets is bounded, in order, and says why there is no more`(
      tls: Bool
    ) async throws
  {
    let handler = StreamHandler()
    try await withServer(handler, tls: tls ? TLSContext(TestIdentity.make()) : nil) {
      $0.writeTime = .milliseconds(700)
      $0.closeTime = .milliseconds(300)
    } _: { addresses in
      let client = try TestClient(addresses[0], receiveBuffer: 16_384, tls: tls)
      let source = try Self.open(client, handler)
      source.flood()
      let other = try TestClient(addresses[0], tls: tls)
      let otherSource = try Self.open(other, handler)
      #expect(waitUntil { !source.endings.isEmpty }, "it is asked for its last words")
      let asked = source.bytes
      #expect(source.endings == [.stalled] && asked < 1_000_000, "\(asked) bytes for one who reads none")
      // Others are served meanwhile.
      otherSource.say("hello")
      #expect(String(decoding: try other.read(17), as: UTF8.self) == "00000005\r\nhello\r\n")
      // Long after the connection was given up, all of it is there.
      usleep(1_500_000)
      let (text, isWhole) = unchunked(try client.readToEnd())
      #expect(isWhole && text.hasSuffix(".too slow") && text.utf8.count == asked)
    }
  }

  @Test func `one that takes nothing is cut off at once where its source has to end`() async throws {
    let handler = StreamHandler()
    try await withServer(handler) { addresses in
      let client = try TestClient(addresses[0], receiveBuffer: 4_096)
      let source = try Self.open(client, handler)
      source.flood()
      usleep(300_000)
      #expect(source.endings.isEmpty)
      source.forbid()
      #expect(waitUntil { source.endings == [.stalled] })
      let (text, isWhole) = unchunked(try client.readToEnd())
      #expect(isWhole && text.hasSuffix(".too slow"))
    }
  }

  @Test func `a client that reads slowly gets all of it, however long that takes`() async throws {
    let handler = StreamHandler()
    try await withServer(handler) {
      $0.writeTime = .seconds(4)
    } _: { addresses in
      let client = try TestClient(addresses[0], receiveBuffer: 4_096)
      let source = try Self.open(client, handler)
      let words = (0..<40_000).map { "\($0) " }
      for word in words { source.say(word, raising: false) }
      source.end()
      var bytes: [UInt8] = []
      let start = ContinuousClock.now
      while ContinuousClock.now - start < .seconds(2) {
        bytes += try client.read(2_000)
        usleep(50_000)
      }
      bytes += try client.readToEnd()
      let (text, isWhole) = unchunked(bytes)
      #expect(isWhole && text == words.joined(), "\(text.utf8.count) of \(words.joined().utf8.count) bytes")
      #expect(source.endings.isEmpty)
    }
  }

  @Test(arguments: [false, true])
  func `a client that goes, in whatever way, leaves nothing behind`(tls: Bool) async throws {
    let handler = StreamHandler()
    try await withServer(handler, tls: tls ? TLSContext(TestIdentity.make()) : nil) {
      $0.closeTime = .milliseconds(200)
    } _: { addresses in
      for number in 0..<40 {
        let client = try TestClient(addresses[0], tls: tls)
        let source = try Self.open(client, handler)
        source.say("hello")
        if number % 4 > 1 { source.flood() }
        if number % 2 == 0 { client.reset() }
      }
      handler.forget()
      #expect(waitUntil { handler.gone.value == 40 }, "\(handler.gone.value) of 40")
    }
  }

  @Test func `a client that shuts its side has had enough`() async throws {
    let handler = StreamHandler()
    try await withServer(handler) { addresses in
      let client = try TestClient(addresses[0])
      _ = try Self.open(client, handler)
      client.finish()
      #expect(client.isClosed(within: .seconds(3)))
      handler.forget()
      #expect(waitUntil { handler.gone.value == 1 })
    }
  }

  @Test func `what a client says meanwhile is no second request, and doesn't disturb`() async throws {
    let handler = StreamHandler()
    try await withServer(handler) { addresses in
      let client = try TestClient(addresses[0])
      let source = try Self.open(client, handler)
      client.send(Self.request("/echo"))
      client.send(String(repeating: "x", count: 100_000))
      source.say("hello")
      #expect(String(decoding: try client.read(17), as: UTF8.self) == "00000005\r\nhello\r\n")
      source.end()
      #expect(try client.readToEnd() == Array("0\r\n\r\n".utf8))
      #expect(handler.started.value == 0)
    }
  }
}

enum TestIdentity {
  static func make() throws -> TLSIdentity {
    let now = Int64(time(nil))
    return try TLSIdentity(
      selfSignedFor: [SocketAddress(ipv4: 127, 0, 0, 1, port: 0)], names: ["localhost"],
      notBefore: now - 3600, notAfter: now + 3600)
  }
}
