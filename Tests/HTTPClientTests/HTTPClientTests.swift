import Crypto
import Foundation
import HTTPClient
import HTTPServer
import Model
import Synchronization
import Testing

@Suite("The HTTP client against the server, over real sockets", .timeLimit(.minutes(1)))
struct HTTPClientTests {
  /// Answers by the path, and notes what it was sent.
  private final class Receiver: HTTPHandler {
    let requests = Mutex<[HTTPRequest]>([])

    func respond(to request: HTTPRequest) async -> HTTPResponse {
      requests.withLock { $0.append(request) }
      switch request.path {
      case "/slow": try? await Task.sleep(for: .seconds(20))
      case "/moved": return HTTPResponse(status: 307, headers: ["location": "/elsewhere"])
      case "/busy": return HTTPResponse(status: 503, headers: ["retry-after": "7"])
      case "/long": return HTTPResponse(status: 200, body: [UInt8](repeating: 65, count: 5_000_000))
      case "/cookie": return HTTPResponse(status: 200, headers: ["set-cookie": "a=b"])
      default: break
      }
      return HTTPResponse(status: 200, type: "text/plain", body: "thanks".utf8)
    }

    func upgrade(_ request: HTTPRequest) async -> UpgradeDecision { .refuse(HTTPResponse(status: 404)) }
  }

  private func withServer(
    tls: TLSContext? = nil, _ body: (Receiver, HTTPServer, String) async throws -> Void
  ) async throws {
    let receiver = Receiver()
    let server = try HTTPServer(
      configuration: HTTPServerConfiguration(
        listeners: [.init(SocketAddress(ipv4: 127, 0, 0, 1, port: 0))], tls: tls), handler: receiver)
    let result: Result<Void, any Error>
    do {
      try await body(
        receiver, server, "\(tls == nil ? "http" : "https")://127.0.0.1:\(server.addresses[0].port)")
      result = .success(())
    } catch { result = .failure(error) }
    await server.shutdown(grace: .milliseconds(300))
    try result.get()
  }

  @Test func `a request arrives as it was given, and its answer's status comes back`() async throws {
    try await withServer { receiver, _, origin in
      let client = HTTPClient()
      let body: [UInt8] = [0, 1, 2, 0, 255] + Array("text\r\n".utf8)
      let answer = try await client.send(
        HTTPClientRequest(
          posting: body, to: "\(origin)/path?query=1",
          headers: [("Authorization", "x.y.z"), ("Content-Type", "a/b")])
      ).get()
      #expect(answer == HTTPClientAnswer(status: 200))
      let request = try #require(receiver.requests.withLock { $0.first })
      #expect(
        request.method == .post && request.path == "/path" && request.query == "query=1"
          && request.body == body)
      #expect(request.headers["authorization"] == "x.y.z" && request.headers["content-type"] == "a/b")
      #expect(request.headers["expect"] == nil && request.headers["user-agent"] == "roost")
    }
  }

  @Test func `connections are used again, and what is asked at once is sent at once`() async throws {
    try await withServer { receiver, server, origin in
      let client = HTTPClient(connectionsPerHost: 3)
      for _ in 0..<20 {
        let answer = try await client.send(HTTPClientRequest(posting: [], to: origin + "/")).get()
        #expect(answer.status == 200)
      }
      #expect(await server.report(within: .seconds(2))?.counters.accepted == 1)
      let statuses = await withTaskGroup(of: Int?.self) { group in
        for _ in 0..<50 {
          group.addTask {
            try? await client.send(HTTPClientRequest(posting: [1], to: origin + "/")).get().status
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses == [Int?](repeating: 200, count: 50))
      let accepted = try #require(await server.report(within: .seconds(2))?.counters.accepted)
      #expect(accepted <= 3, "\(accepted) connections")
      #expect(receiver.requests.withLock { $0.count } == 70)
    }
  }

  @Test func `a redirect is not followed, a cookie not kept, and a wait that is asked for is said`()
    async throws
  {
    try await withServer { receiver, _, origin in
      let client = HTTPClient()
      let moved = try await client.send(HTTPClientRequest(posting: [], to: origin + "/moved")).get()
      #expect(moved.status == 307)
      let busy = try await client.send(HTTPClientRequest(posting: [], to: origin + "/busy")).get()
      #expect(busy == HTTPClientAnswer(status: 503, retryAfter: 7))
      _ = await client.send(HTTPClientRequest(posting: [], to: origin + "/cookie"))
      _ = await client.send(HTTPClientRequest(posting: [], to: origin + "/last"))
      let requests = receiver.requests.withLock { $0 }
      #expect(requests.map(\.path) == ["/moved", "/busy", "/cookie", "/last"])
      #expect(requests.allSatisfy { $0.headers["cookie"] == nil })
    }
  }

  @Test func `what takes too long, or answers too much, ends in time, and others go on`() async throws {
    try await withServer { _, _, origin in
      let client = HTTPClient()
      let start = ContinuousClock.now
      async let slow = client.send(HTTPClientRequest(posting: [], to: origin + "/slow", milliseconds: 400))
      let quick = try await client.send(HTTPClientRequest(posting: [], to: origin + "/")).get()
      #expect(quick.status == 200 && ContinuousClock.now - start < .milliseconds(300))
      #expect(await slow == .failure(.timedOut))
      #expect(ContinuousClock.now - start < .seconds(2))
      #expect(await client.send(HTTPClientRequest(posting: [], to: origin + "/long")) == .failure(.tooLong))
    }
  }

  @Test func `no one at the address, another scheme and what is no URL are failures`() async throws {
    let client = HTTPClient()
    for url in ["http://127.0.0.1:1/", "file:///etc/passwd", "gopher://127.0.0.1/", "", "http://", "no url"] {
      guard case .failure(.failed(let reason)) = await client.send(HTTPClientRequest(posting: [], to: url))
      else {
        Issue.record("\(url) has an answer")
        continue
      }
      #expect(!reason.isEmpty)
    }
  }

  @Test func `a certificate counts where an authority vouches for it, and for that name alone`() async throws
  {
    let now = Int64(Date().timeIntervalSince1970)
    let identity = try TLSIdentity(
      selfSignedFor: [SocketAddress(ipv4: 127, 0, 0, 1, port: 0)], names: ["localhost"],
      notBefore: now - 3_600,
      notAfter: now + 3_600)
    let file = FileManager.default.temporaryDirectory.appending(path: "roost-\(UUID()).pem")
    try Data(identity.certificates.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    try await withServer(tls: TLSContext(identity)) { receiver, server, origin in
      let stranger = await HTTPClient().send(HTTPClientRequest(posting: [1], to: origin + "/"))
      guard case .failure(.failed) = stranger else {
        Issue.record("it trusts a stranger: \(stranger)")
        return
      }
      let client = HTTPClient(authorities: file.path)
      let trusted = try await client.send(HTTPClientRequest(posting: [1], to: origin + "/")).get()
      #expect(trusted.status == 200)
      // Another name of the same place, which the certificate doesn't have.
      let other = await client.send(
        HTTPClientRequest(posting: [1], to: "https://127.0.0.2:\(server.addresses[0].port)/"))
      guard case .failure(.failed) = other else {
        Issue.record("it takes any name: \(other)")
        return
      }
      #expect(receiver.requests.withLock { $0.count } == 1)
    }
  }

  @Test func `one that is stopped, or let go, gives up what is under way and takes nothing more`()
    async throws
  {
    try await withServer { receiver, _, origin in
      let client = HTTPClient()
      async let slow = client.send(HTTPClientRequest(posting: [], to: origin + "/slow"))
      for _ in 0..<200 where receiver.requests.withLock({ $0.isEmpty }) {
        try await Task.sleep(for: .milliseconds(10))
      }
      client.stop()
      #expect(await slow == .failure(.stopped))
      for _ in 0..<100 {
        if await client.send(HTTPClientRequest(posting: [], to: origin + "/")) == .failure(.stopped) {
          return
        }
      }
      Issue.record("it goes on")
    }
  }

  @Test func `proxies of the environment are not used`() async throws {
    setenv("http_proxy", "http://127.0.0.1:1", 1)
    setenv("ALL_PROXY", "http://127.0.0.1:1", 1)
    defer {
      unsetenv("http_proxy")
      unsetenv("ALL_PROXY")
    }
    try await withServer { _, _, origin in
      let answer = try await HTTPClient().send(HTTPClientRequest(posting: [], to: origin + "/")).get()
      #expect(answer.status == 200)
    }
  }
}
