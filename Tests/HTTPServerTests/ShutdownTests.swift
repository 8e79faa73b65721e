import Glibc
import HTTPServer
import Model
import Testing

@Suite("Shutdown, over real sockets", .timeLimit(.minutes(2)))
struct ShutdownTests {
  private let handler = EchoHandler()

  private func start() throws -> HTTPServer {
    try HTTPServer(configuration: HTTPServerConfiguration(listeners: loopback), handler: handler)
  }

  @Test func `a shutdown in the middle lets answers out, says 1001 and ends`() async throws {
    let server = try start()
    let address = server.addresses[0]
    let clients = try await onThread { [handler] in
      let clients = Clients(
        idle: try TestClient(address), kept: try TestClient(address), busy: try TestClient(address),
        uploading: try TestClient(address), socket: try TestClient(address))
      _ = try clients.socket.open("/")
      clients.kept.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try clients.kept.answer().status == 200)
      clients.busy.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
      clients.uploading.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nab")
      #expect(waitUntil { handler.started.value == 2 })
      return clients
    }
    async let stopped: Void = server.shutdown(grace: .seconds(5))
    try await onThread { [handler] in
      #expect(clients.idle.isClosed() && clients.kept.isClosed())
      #expect(try clients.socket.closeCode() == 1001)
      clients.socket.send(clientFrame(8, [0x03, 0xE9]))
      #expect(clients.socket.isClosed())
      #expect(throws: TestClient.ClientError.self) { try TestClient(address) }
      handler.gate.open()
      clients.uploading.send("cd")
      for client in [clients.busy, clients.uploading] {
        let answer = try client.answer()
        #expect(answer.status == 200 && answer.head.contains("connection: close"))
        #expect(client.isClosed())
      }
    }
    let start = ContinuousClock.now
    await stopped
    // Clients that don't go by themselves are given `closeTime`, not the whole grace.
    #expect(ContinuousClock.now - start < .seconds(3))
  }

  @Test func `a shutdown cuts off what doesn't end within its grace`() async throws {
    let server = try start()
    let address = server.addresses[0]
    let clients = try await onThread { [handler] in
      let clients = Clients(
        idle: try TestClient(address), kept: try TestClient(address), busy: try TestClient(address),
        uploading: try TestClient(address), socket: try TestClient(address, receiveBuffer: 4096))
      clients.kept.send(TestClient.handshake("/slow"))
      clients.busy.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
      clients.uploading.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nab")
      _ = try clients.socket.open("/flood")
      #expect(waitUntil { handler.started.value == 1 })
      return clients
    }
    let start = ContinuousClock.now
    await server.shutdown(grace: .milliseconds(200))
    #expect(ContinuousClock.now - start < .seconds(2))
    try await onThread { [handler] in
      for client in [clients.idle, clients.kept, clients.busy, clients.uploading] {
        #expect(client.isClosed())
      }
      #expect(waitUntil { handler.cancelled.value == 2 })
      #expect(waitUntil { handler.endedSockets.value == 1 })
    }
  }

  @Test func `a server that is let go ends by itself, and one shut down twice ends once`() async throws {
    var server: HTTPServer? = try start()
    let address = try #require(server).addresses[0]
    let client = try await onThread { Held(client: try TestClient(address)) }
    server = nil
    try await onThread { #expect(client.client.isClosed()) }

    let other = try start()
    async let first: Void = other.shutdown()
    async let second: Void = other.shutdown()
    _ = await (first, second)
    await other.shutdown()
  }
}

/// Carried from one thread to the next, never used by two at once.
private struct Clients: @unchecked Sendable {
  let idle: TestClient
  let kept: TestClient
  let busy: TestClient
  let uploading: TestClient
  let socket: TestClient
}

private struct Held: @unchecked Sendable {
  let client: TestClient
}
