import Crypto
import Foundation
import HTTPClient
import HTTPServer
import Model
import Synchronization
import Testing

@Suite("The HTTP client on a thread of its own, against the server", .timeLimit(.minutes(1)))
struct HTTPClientThreadTests {
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

  private func post(
    _ url: String, _ body: [UInt8] = [], milliseconds: Int = 5_000
  ) throws -> HTTPClientRequest {
    var request = HTTPClientRequest(.post, try #require(HTTPURL(url)))
    request.body = body
    request.milliseconds = milliseconds
    request.limit = 65_536
    return request
  }

  @Test func `a request arrives as it was given, and its answer comes back`() async throws {
    try await withServer { receiver, _, origin in
      let body: [UInt8] = [0, 1, 2, 0, 255] + Array("text\r\n".utf8)
      var request = try post("\(origin)/path/?query=1", body)
      request.headers = [("Authorization", "x.y.z"), ("Content-Type", "a/b"), ("User-Agent", "roost")]
      let answer = try await HTTPClientThread().send(request).get()
      #expect(answer.head.status == 200 && answer.body == Array("thanks".utf8) && answer.retryAfter == nil)
      let came = try #require(receiver.requests.withLock { $0.first })
      #expect(
        came.method == .post && came.path == "/path/" && came.query == "query=1" && came.body == body)
      #expect(came.headers["authorization"] == "x.y.z" && came.headers["content-type"] == "a/b")
      #expect(came.headers["expect"] == nil && came.headers["user-agent"] == "roost")
    }
  }

  @Test func `connections are used again, and what is asked at once is sent at once`() async throws {
    try await withServer { receiver, server, origin in
      let client = HTTPClientThread(connectionsPerHost: 3)
      for _ in 0..<20 { #expect(try await client.send(post(origin)).get().head.status == 200) }
      #expect(await server.report(within: .seconds(2))?.counters.accepted == 1)
      let request = try post(origin, [1])
      let statuses = await withTaskGroup(of: Int?.self) { group in
        for _ in 0..<50 { group.addTask { try? await client.send(request).get().head.status } }
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
      let client = HTTPClientThread()
      #expect(try await client.send(post(origin + "/moved")).get().head.status == 307)
      let busy = try await client.send(post(origin + "/busy")).get()
      #expect(busy.head.status == 503 && busy.retryAfter == 7)
      _ = try await client.send(post(origin + "/cookie"))
      _ = try await client.send(post(origin + "/last"))
      let requests = receiver.requests.withLock { $0 }
      #expect(requests.map(\.path) == ["/moved", "/busy", "/cookie", "/last"])
      #expect(requests.allSatisfy { $0.headers["cookie"] == nil })
    }
  }

  @Test func `what takes too long, or answers too much, ends in time, and others go on`() async throws {
    try await withServer { _, _, origin in
      let client = HTTPClientThread()
      let start = ContinuousClock.now
      let late = try post(origin + "/slow", milliseconds: 2_000)
      async let slow = client.send(late)
      let quick = try await client.send(post(origin)).get()
      #expect(quick.head.status == 200 && ContinuousClock.now - start < .milliseconds(1_500))
      #expect(await slow == .failure(.timeout))
      #expect(ContinuousClock.now - start < .seconds(8))
      #expect(try await client.send(post(origin + "/long")) == .failure(.tooLarge(limit: 65_536)))
    }
  }

  @Test func `no one at the address is a failure, and a field that would be two is refused`() async throws {
    let client = HTTPClientThread()
    let unanswered = try await client.send(post("http://127.0.0.1:1/"))
    guard case .failure(.connection(let reason)) = unanswered else {
      Issue.record("it has an answer")
      return
    }
    #expect(!reason.isEmpty)
    var request = try post("http://127.0.0.1:1/")
    request.headers = [("a", "b\r\nc: d")]
    guard case .failure(.request) = await client.send(request) else {
      Issue.record("it was sent")
      return
    }
  }

  @Test func `a certificate counts where an authority vouches for it, and for that name alone`() async throws
  {
    let now = Int64(Date().timeIntervalSince1970)
    let identity = try TLSIdentity(
      selfSignedFor: [SocketAddress(ipv4: 127, 0, 0, 1, port: 0)], names: ["roost.test"],
      notBefore: now - 3_600,
      notAfter: now + 3_600)
    let file = FileManager.default.temporaryDirectory.appending(path: "roost-\(UUID()).pem")
    try Data(identity.certificates.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    try await withServer(tls: TLSContext(identity)) { receiver, server, origin in
      let stranger = try await HTTPClientThread().send(post(origin, [1]))
      guard case .failure(.certificate) = stranger else {
        Issue.record("it trusts a stranger: \(stranger)")
        return
      }
      let client = HTTPClientThread(trust: .file(file.path))
      #expect(try await client.send(post(origin, [1])).get().head.status == 200)
      // Another name of the same place, which the certificate doesn't have.
      let other = try await client.send(post("https://localhost:\(server.addresses[0].port)/", [1]))
      guard case .failure(.certificate) = other else {
        Issue.record("it takes any name: \(other)")
        return
      }
      #expect(receiver.requests.withLock { $0.count } == 1)
    }
  }

  @Test func `who would speak HTTP/2 speaks HTTP/1.1 with a server that knows no other`() async throws {
    let identity = try TLSIdentity(
      selfSignedFor: [SocketAddress(ipv4: 127, 0, 0, 1, port: 0)], names: [], notBefore: 1_700_000_000,
      notAfter: 4_000_000_000)
    try await withServer(tls: TLSContext(identity)) { receiver, server, origin in
      let client = HTTPClientThread(trust: .anyone, version: .http2, connectionsPerHost: 2)
      let request = try post(origin, [1])
      let statuses = await withTaskGroup(of: Int?.self) { group in
        for _ in 0..<10 { group.addTask { try? await client.send(request).get().head.status } }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses == [Int?](repeating: 200, count: 10))
      let accepted = try #require(await server.report(within: .seconds(2))?.counters.accepted)
      #expect(accepted <= 2, "\(accepted) connections")
      #expect(receiver.requests.withLock { $0.count } == 10)
    }
  }

  @Test func `one that is stopped, or let go, gives up what is under way and takes nothing more`()
    async throws
  {
    try await withServer { receiver, _, origin in
      let client = HTTPClientThread()
      let request = try post(origin + "/slow")
      async let slow = client.send(request)
      for _ in 0..<200 where receiver.requests.withLock({ $0.isEmpty }) {
        try await Task.sleep(for: .milliseconds(10))
      }
      client.stop()
      #expect(await slow == .failure(.stopped))
      for _ in 0..<100 {
        if try await client.send(post(origin)) == .failure(.stopped) { return }
      }
      Issue.record("it goes on")
    }
  }

  @Test func `proxies of the environment are not used`() async throws {
    try await withServer { receiver, _, origin in
      setenv("http_proxy", origin, 1)
      defer { unsetenv("http_proxy") }
      // A proxy would be asked for what has no address.
      let answer = try await HTTPClientThread().send(post("http://roost.invalid/"))
      guard case .failure(.connection) = answer else {
        Issue.record("it has an answer")
        return
      }
      #expect(receiver.requests.withLock { $0.isEmpty })
    }
  }
}
