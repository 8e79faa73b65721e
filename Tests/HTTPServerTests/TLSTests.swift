import COpenSSL
import Crypto
import Glibc
import HTTPServer
import Model
import Testing

@Suite("HTTP and WebSocket through TLS, over real sockets", .timeLimit(.minutes(2)))
struct TLSTests {
  private static func identity() throws -> TLSIdentity {
    let now = Int64(time(nil))
    return try TLSIdentity(
      selfSignedFor: [SocketAddress(ipv4: 127, 0, 0, 1, port: 0)], names: ["localhost"],
      notBefore: now - 3600, notAfter: now + 3600)
  }

  private func withSecureServer(
    _ handler: EchoHandler = EchoHandler(), limits change: (inout HTTPLimits) -> Void = { _ in },
    _ body: @escaping @Sendable (SocketAddress) throws -> Void
  ) async throws {
    try await withServer(handler, tls: TLSContext(Self.identity()), change) { try body($0[0]) }
  }

  private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n" }

  @Test(arguments: [TLS1_3_VERSION, TLS1_2_VERSION])
  func `requests are answered, under the certificate that was given`(version: Int32) async throws {
    let identity = try Self.identity()
    try await withServer(tls: TLSContext(identity)) { addresses in
      for address in addresses {
        let client = try TestClient(address)
        try client.startTLS(version)
        #expect(client.tls?.version == (version == TLS1_3_VERSION ? "TLSv1.3" : "TLSv1.2"))
        #expect(client.tls?.fingerprint == identity.fingerprint.digest)
        for _ in 0..<3 {
          client.send("POST /path HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello")
          let answer = try client.answer()
          #expect(answer.status == 200 && answer.body.hasSuffix(" hello"))
        }
      }
    }
  }

  @Test func `older versions are refused`() async throws {
    try await withSecureServer { address in
      for version in [TLS1_1_VERSION, TLS1_VERSION] {
        let client = try TestClient(address)
        #expect(throws: TestTLS.Failure.self) { try client.startTLS(version) }
      }
    }
  }

  @Test func `handshakes of one address are rationed before they cost anything`() async throws {
    try await withSecureServer {
      $0.handshakes.perAddress = 0.1
      $0.handshakes.atOncePerAddress = 3
    } _: { address in
      for _ in 0..<3 {
        let client = try TestClient(address, tls: true)
        client.send(Self.get("/a"))
        #expect(try client.answer().status == 200)
      }
      for _ in 0..<5 {
        let client = try TestClient(address)
        #expect(client.isClosed())
      }
    }
  }

  @Test func `handshakes that a trusted proxy passes on are not rationed`() async throws {
    try await withSecureServer {
      $0.handshakes.perAddress = 0.1
      $0.handshakes.atOncePerAddress = 1
      $0.proxies = [AddressPrefix("127.0.0.1")].compactMap(\.self)
    } _: { address in
      for _ in 0..<3 {
        let client = try TestClient(address, tls: true)
        client.send(Self.get("/a"))
        #expect(try client.answer().status == 200)
      }
    }
  }

  @Test func `a large answer and a slow one arrive whole`() async throws {
    let handler = EchoHandler()
    try await withSecureServer(handler) { address in
      let client = try TestClient(address, tls: true)
      client.send(Self.get("/large"))
      #expect(try client.answer().body.utf8.count == 8_000_000)
      client.send(Self.get("/slow"))
      #expect(waitUntil { handler.started.value == 2 })
      handler.gate.open()
      #expect(try client.answer().status == 200)
    }
  }

  @Test(arguments: [0, 125, 65_536, 262_139])
  func `WebSocket messages pass in both directions`(size: Int) async throws {
    try await withSecureServer { address in
      let client = try TestClient(address, tls: true)
      #expect(try client.open("/").status == 101)
      for _ in 0..<4 { client.send(clientFrame(1, [UInt8](repeating: 120, count: size))) }
      for _ in 0..<4 { #expect(try client.text() == "echo " + String(repeating: "x", count: size)) }
    }
  }

  @Test func `frames that came before the handshake's answer are read`() async throws {
    let handler = EchoHandler()
    try await withSecureServer(handler) { address in
      let client = try TestClient(address, tls: true)
      client.send(Array(TestClient.handshake("/slow").utf8) + clientFrame(1, Array("early".utf8)))
      #expect(!client.isClosed(within: .milliseconds(100)))
      handler.gate.open()
      #expect(try client.answer().status == 101)
      #expect(try client.text() == "echo early")
    }
  }

  @Test func `every message arrives, then the close with its code`() async throws {
    let handler = EchoHandler()
    try await withSecureServer(handler) { address in
      let client = try TestClient(address, tls: true)
      #expect(try client.open("/many").status == 101)
      for number in 0..<1000 { #expect(try client.text() == "\(number)") }
      #expect(try client.closeCode() == 1000)
      client.send(clientFrame(8, [3, 232]))
      #expect(client.isClosed())
      #expect(waitUntil { handler.endedSockets.value == 1 })
    }
  }

  @Test func `a client's close is echoed, and its going without one is noticed`() async throws {
    let handler = EchoHandler()
    try await withSecureServer(handler) { address in
      let client = try TestClient(address, tls: true)
      #expect(try client.open("/").status == 101)
      client.send(clientFrame(8, [3, 232]))
      #expect(try client.closeCode() == 1000)
      #expect(waitUntil { handler.endedSockets.value == 1 })
      let other = try TestClient(address, tls: true)
      #expect(try other.open("/").status == 101)
      other.reset()
      #expect(waitUntil { handler.endedSockets.value == 2 })
    }
  }

  @Test func `a client that takes nothing is cut, and others are served meanwhile`() async throws {
    let handler = EchoHandler()
    let limits = { (limits: inout HTTPLimits) in
      limits.writeTime = .milliseconds(500)
      limits.queuedBytes = 1_000_000
    }
    try await withSecureServer(handler, limits: limits) { address in
      let deaf = try TestClient(address, receiveBuffer: 4096, tls: true)
      #expect(try deaf.open("/flood").status == 101)
      let client = try TestClient(address, tls: true)
      #expect(try client.open("/").status == 101)
      client.send(clientFrame(1, Array("hello".utf8)))
      #expect(try client.text() == "echo hello")
      #expect(waitUntil { handler.endedSockets.value == 1 })
    }
  }

  @Test func `a client that does not finish the handshake is cut in time`() async throws {
    let limits = { (limits: inout HTTPLimits) in limits.headTime = .milliseconds(300) }
    try await withSecureServer(limits: limits) { address in
      let silent = try TestClient(address)
      let halfway = try TestClient(address)
      halfway.send([0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3])
      #expect(silent.isClosed(within: .seconds(2)))
      #expect(halfway.isClosed(within: .seconds(2)))
    }
  }

  @Test func `noise is cut off, and the server goes on`() async throws {
    try await withSecureServer { address in
      var random = SystemRandomNumberGenerator()
      for size in [1, 5, 100, 5000] {
        let client = try TestClient(address)
        client.send([0x16, 3, 1] + (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) })
        client.finish()
        #expect(client.isClosed(within: .seconds(2)))
      }
      let client = try TestClient(address, tls: true)
      client.send(Self.get("/"))
      #expect(try client.answer().status == 200)
    }
  }

  @Test func `a client that speaks in clear is answered with the scheme to use`() async throws {
    try await withSecureServer { address in
      let client = try TestClient(address)
      client.send(Self.get("/"))
      let answer = try client.answer()
      #expect(answer.status == 400 && answer.body.contains("https://"))
      #expect(client.isClosed(within: .seconds(2)))
    }
  }

  @Test func `a shutdown closes WebSockets with 1001`() async throws {
    let server = try HTTPServer(
      configuration: HTTPServerConfiguration(listeners: loopback, tls: TLSContext(Self.identity())),
      handler: EchoHandler())
    let address = server.addresses[0]
    let closing = Task {
      try await onThread {
        let client = try TestClient(address, tls: true)
        #expect(try client.open("/").status == 101)
        client.send(clientFrame(1, Array("here".utf8)))
        #expect(try client.text() == "echo here")
        let code = try client.closeCode()
        client.send(clientFrame(8, [3, 233]))
        return code
      }
    }
    try await Task.sleep(for: .milliseconds(500))
    await server.shutdown(grace: .seconds(3))
    #expect(try await closing.value == 1001)
  }
}
