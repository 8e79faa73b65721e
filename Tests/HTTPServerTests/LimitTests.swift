import Glibc
import HTTPServer
import Model
import Testing

@Suite("Limits, over real sockets", .timeLimit(.minutes(2)))
struct LimitTests {
  @Test func `slow heads and slow bodies are cut in time, however they drip`() async throws {
    try await withServer(EchoHandler()) {
      $0.headTime = .milliseconds(300)
      $0.bodyTime = .milliseconds(300)
    } _: { addresses in
      let openings = [
        "", "GET ", "GET / HTTP/1.1\r\n", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 90\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5A\r\n",
      ]
      for opening in openings {
        let start = ContinuousClock.now
        let client = try TestClient(addresses[0])
        client.send(opening)
        var drips = 0
        while !client.isClosed(within: .milliseconds(40)), drips < 100 {
          client.send("X")
          drips += 1
        }
        let took = ContinuousClock.now - start
        #expect(drips > 3 && took > .milliseconds(250) && took < .seconds(3))
      }
    }
  }

  @Test func `a chunk's line that is longer than any buffer ends its connection, and costs no processor`()
    async throws
  {
    try await withServer(EchoHandler()) { addresses in
      for staysOpen in [true, false] {
        var client: TestClient? = try TestClient(addresses[0])
        client?.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;")
        client?.send(String(repeating: "a", count: 100_000))
        if staysOpen {
          #expect(client?.isClosed(within: .seconds(2)) == true)
        } else {
          client = nil
        }
        usleep(300_000)
        var before = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before)
        usleep(200_000)
        var after = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after)
        let used = (after.tv_sec - before.tv_sec) * 1_000_000_000 + after.tv_nsec - before.tv_nsec
        #expect(used < 60_000_000, "\(used) ns of 200 ms")
      }
    }
  }

  @Test func `a kept connection that says nothing ends`() async throws {
    try await withServer(EchoHandler()) {
      $0.keepAlive = .milliseconds(200)
    } _: { addresses in
      let client = try TestClient(addresses[0])
      client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try client.answer().status == 200)
      #expect(!client.isClosed(within: .milliseconds(100)))
      #expect(client.isClosed())
    }
  }

  @Test func `a handler that never answers costs 503 and the connection, and is reported`() async throws {
    for upgrade in ["", "Upgrade: websocket\r\nConnection: upgrade\r\n" + TestClient.webSocketFields] {
      let handler = EchoHandler()
      try await withServer(handler) {
        $0.answerTime = .milliseconds(200)
      } _: { addresses in
        let client = try TestClient(addresses[0])
        client.send("GET /slow HTTP/1.1\r\nHost: h\r\n\(upgrade)\r\n")
        let answer = try client.answer()
        #expect(answer.status == 503 && answer.head.contains("retry-after: 1\r\n"))
        #expect(client.isClosed())
        #expect(waitUntil { handler.cancelled.value == 1 })
      }
    }
  }

  @Test func `a client that goes takes its task with it`() async throws {
    for reset in [false, true] {
      let handler = EchoHandler()
      try await withServer(handler) { addresses in
        let client = try TestClient(addresses[0])
        client.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(waitUntil { handler.started.value == 1 })
        if reset { client.reset() } else { client.finish() }
        #expect(waitUntil { handler.cancelled.value == 1 })
      }
    }
  }

  @Test func `a client that takes nothing of its answer is cut`() async throws {
    try await withServer(EchoHandler()) {
      $0.writeTime = .seconds(1)
    } _: { addresses in
      let client = try TestClient(addresses[0], receiveBuffer: 4096)
      client.send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n")
      usleep(2_500_000)
      #expect(throws: TestClient.ClientError.self) { try client.answer() }
    }
  }

  @Test func `a trusted proxy brings as many connections as there may be, and names the client`() async throws
  {
    try await withServer(EchoHandler()) {
      $0.connectionsPerAddress = 1
      $0.proxies = [AddressPrefix("127.0.0.0/8")].compactMap(\.self)
    } _: { addresses in
      let clients = try (0..<3).map { _ in try TestClient(addresses[0]) }
      for (number, client) in clients.enumerated() {
        client.send("GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 1.1.1.1, 192.0.2.\(number)\r\n\r\n")
        #expect(try client.answer().body == "GET /  192.0.2.\(number) 0 ")
      }
      // The other listener's clients come from ::1, which is not trusted.
      let stranger = try TestClient(addresses[1])
      stranger.send("GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n")
      #expect(try stranger.answer().body == "GET /  ::1 1 ")
      #expect(try TestClient(addresses[1]).isClosed())
    }
  }

  @Test(arguments: [true, false])
  func `connections over the limit are closed at once and come back when others go`(
    perAddress: Bool
  ) async throws {
    try await withServer(EchoHandler()) {
      if perAddress { $0.connectionsPerAddress = 3 } else { $0.connections = 3 }
    } _: { addresses in
      var clients = try (0..<3).map { try TestClient(addresses[perAddress ? 0 : $0 % 2]) }
      for client in clients {
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try client.answer().status == 200)
      }
      #expect(try TestClient(addresses[0]).isClosed())
      if perAddress {
        let other = try TestClient(addresses[1])
        other.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try other.answer().status == 200)
      }
      clients.removeAll()
      let isServedAgain = waitUntil {
        guard let client = try? TestClient(addresses[0]) else { return false }
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        return (try? client.answer().status) == 200
      }
      #expect(isServedAgain)
    }
  }

  @Test func `a thousand connections of every kind leave no descriptor behind`() async throws {
    try await withServer(EchoHandler()) {
      $0.closeTime = .milliseconds(200)
    } _: { addresses in
      for number in 0..<1000 {
        let client = try TestClient(addresses[0])
        switch number % 8 {
        case 0:
          client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
          #expect(try client.answer().status == 200)
        case 1: client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 50\r\n\r\nabc")
        case 2: client.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
        case 3: #expect(try client.open("/").status == 101)
        case 4:
          #expect(try client.open("/").status == 101)
          client.send(clientFrame(8, [0x03, 0xE8]))
          #expect(try client.frame().opcode == 8)
        case 5: client.send("GET x HTTP/1.1\r\n\r\n")
        case 6: #expect(try client.open("/missing").status == 403)
        default: client.reset()
        }
      }
      // The listener alone is left.
      #expect(
        waitUntil { descriptors(port: addresses[0].port) == 1 }, "\(descriptors(port: addresses[0].port))")
    }
    /// Those of this process that have the port at their own end.
    @Sendable func descriptors(port: UInt16) -> Int {
      (3..<Int32(getdtablesize())).count { descriptor in
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        return result == 0 && Int32(address.sin_family) == AF_INET
          && UInt16(bigEndian: address.sin_port) == port
      }
    }
  }
}
