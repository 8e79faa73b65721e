import Crypto
import Foundation
import Glibc
import HTTPServer
import Model
import Synchronization
import Testing

@testable import WebSocketClient

@Suite("The WebSocket client against the server, over real sockets", .timeLimit(.minutes(2)))
struct WebSocketClientTests {
  /// Says back what it hears; `bye` and `flood` are answered by a close.
  private struct Echo: HTTPHandler {
    func respond(to request: HTTPRequest) async -> HTTPResponse {
      HTTPResponse(status: 404, type: "text/plain", body: "nothing here".utf8)
    }

    func upgrade(_ request: HTTPRequest) async -> UpgradeDecision {
      guard request.bearerToken == "good" else {
        return .refuse(HTTPResponse(status: 401, type: "text/plain", body: "no token".utf8))
      }
      return .accept(subprotocol: "roost.v1") { socket in
        _ = socket.send("welcome")
        for await text in socket.messages {
          guard text != "bye" else { return socket.close(code: 4_001, reason: "as asked") }
          guard text != "flood" else { return socket.close(code: 1_013, reason: "too fast") }
          _ = socket.send(text)
        }
      }
    }
  }

  /// - Parameter body: on a thread of its own, since it blocks.
  private func withServer(
    tls: TLSContext? = nil, _ body: @escaping @Sendable (SocketAddress) throws -> Void
  ) async throws {
    let server = try HTTPServer(
      configuration: HTTPServerConfiguration(
        listeners: [.init(SocketAddress(ipv4: 127, 0, 0, 1, port: 0))], tls: tls), handler: Echo())
    let address = server.addresses[0]
    let result: Result<Void, any Error> = await withCheckedContinuation { continuation in
      let run = Thread { continuation.resume(returning: Result { try body(address) }) }
      run.start()
    }
    await server.shutdown(grace: .seconds(1))
    try result.get()
  }

  private func open(
    _ address: SocketAddress, token: String = "good", scheme: String = "ws", checks: Bool = true,
    authorities: String? = nil
  ) throws -> WebSocketClient {
    let url = try #require(WebSocketURL("\(scheme)://127.0.0.1:\(address.port)/"))
    return try WebSocketClient(
      url, protocol: "roost.v1", headers: [("Authorization", "Bearer \(token)")], milliseconds: 5_000,
      checksCertificate: checks, authorities: authorities)
  }

  /// Messages until there are `count`, or 5 s are over.
  private func hear(_ client: WebSocketClient, _ count: Int) -> [String] {
    var heard: [String] = []
    for _ in 0..<500 where heard.count < count && client.state == .open {
      client.flush()
      heard += client.read()
      guard heard.count < count, client.state == .open else { break }
      var entry = pollfd(fd: client.descriptor, events: Int16(POLLIN), revents: 0)
      poll(&entry, 1, 10)
    }
    return heard
  }

  @Test func `messages go both ways, whatever their size`() async throws {
    try await withServer { address in
      let client = try open(address)
      let texts = [0, 1, 125, 126, 65_535, 65_536, 200_000].map {
        String(repeating: "ü", count: $0 / 2) + "x"
      }
      for text in texts { client.send(text) }
      #expect(hear(client, texts.count + 1) == ["welcome"] + texts)
      client.close()
      #expect(client.state == .closed(code: 1_000, reason: ""))
      client.send("too late")
      #expect(!client.wantsToWrite && client.read().isEmpty)
    }
  }

  @Test func `the same over TLS, where the certificate is known or not asked for`() async throws {
    let identity = try TLSIdentity(
      selfSignedFor: [SocketAddress(ipv4: 127, 0, 0, 1, port: 0)], names: [], notBefore: 1_700_000_000,
      notAfter: 4_000_000_000)
    try await withServer(tls: TLSContext(identity)) { address in
      let client = try open(address, scheme: "wss", checks: false)
      client.send("hidden")
      #expect(hear(client, 2) == ["welcome", "hidden"])
      let error = #expect(throws: WebSocketClientError.self) { try open(address, scheme: "wss") }
      #expect(error.map { "\($0)" }?.contains("certificate") == true)
    }
  }

  @Test func `authorities of a file are believed, and no others`() async throws {
    let now = Int64(Date().timeIntervalSince1970)
    let identity = try TLSIdentity(
      selfSignedFor: [SocketAddress(ipv4: 127, 0, 0, 1, port: 0)], names: [], notBefore: now - 3_600,
      notAfter: now + 3_600)
    let file = FileManager.default.temporaryDirectory.appending(path: "roost-\(UUID()).pem")
    try Data(identity.certificates.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    try await withServer(tls: TLSContext(identity)) { address in
      let client = try open(address, scheme: "wss", authorities: file.path)
      #expect(hear(client, 1) == ["welcome"])
      let stranger = #expect(throws: WebSocketClientError.self) { try open(address, scheme: "wss") }
      guard case .certificate? = stranger else {
        return #expect(Bool(false), "\(String(describing: stranger))")
      }
      let none = #expect(throws: WebSocketClientError.self) {
        try open(address, scheme: "wss", authorities: "/nowhere.pem")
      }
      guard case .authorities? = none else { return #expect(Bool(false), "\(String(describing: none))") }
    }
  }

  @Test func `a refusal is reported with status and body`() async throws {
    try await withServer { address in
      #expect(throws: WebSocketClientError.refused(status: 401, body: "no token")) {
        try open(address, token: "bad")
      }
    }
  }

  @Test(arguments: ["good\r\nHost: elsewhere", "good\n", "go\0od", "good\u{7F}"])
  func `a token that would end its line is not sent`(token: String) async throws {
    try await withServer { address in
      #expect(throws: WebSocketClientError.request("the header field Authorization can't be written")) {
        try open(address, token: token)
      }
    }
  }

  @Test func `the server's close is reported with its code`() async throws {
    try await withServer { address in
      let client = try open(address)
      client.send("bye")
      _ = hear(client, 2)
      #expect(client.state == .closed(code: 4_001, reason: ""))
    }
  }

  @Test func `a close by a code that wslay doesn't know is a close`() async throws {
    try await withServer { address in
      let client = try open(address)
      client.send("flood")
      _ = hear(client, 2)
      #expect(client.state == .closed(code: 1_006, reason: ""))
    }
  }

  @Test func `a connection that breaks is closed without a code`() async throws {
    let client = Mutex<WebSocketClient?>(nil)
    try await withServer { address in
      let opened = try open(address)
      client.withLock { $0 = opened }
    }
    let left = try #require(client.withLock { $0 })
    _ = hear(left, 1_000)
    #expect(left.state != .open)
  }

  @Test func `an address where nothing listens is reported with the connection's error`() throws {
    let probe = try #require(freePort())
    let error = #expect(throws: WebSocketClientError.self) {
      try open(SocketAddress(ipv4: 127, 0, 0, 1, port: probe))
    }
    #expect(error != .timeout)
  }

  @Test func `a server that does not answer is given up in time`() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    let port = try #require(bind(listener))
    listen(listener, 1)
    let url = try #require(WebSocketURL("ws://127.0.0.1:\(port)/"))
    #expect(throws: WebSocketClientError.timeout) {
      try WebSocketClient(url, protocol: "roost.v1", milliseconds: 300)
    }
  }

  private func freePort() -> UInt16? {
    let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(probe) }
    return bind(probe)
  }

  private func bind(_ descriptor: Int32) -> UInt16? {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        guard Glibc.bind(descriptor, $0, size) == 0, getsockname(descriptor, $0, &size) == 0 else {
          return nil
        }
        return UInt16(bigEndian: UnsafeRawPointer($0).loadUnaligned(fromByteOffset: 2, as: UInt16.self))
      }
    }
  }
}
