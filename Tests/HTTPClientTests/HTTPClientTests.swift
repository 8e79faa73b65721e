import Crypto
import Foundation
import HTTPServer
import Model
import Testing

@testable import HTTPClient

@Suite("The HTTP client against the server, over real sockets", .timeLimit(.minutes(2)))
struct HTTPClientTests {
  /// Says back what was asked; `/large` answers with as many bytes as its query says.
  private struct Echo: HTTPHandler {
    func respond(to request: HTTPRequest) async -> HTTPResponse {
      switch request.path {
      case "/large":
        return HTTPResponse(status: 200, body: [UInt8](repeating: 65, count: Int(request.query) ?? 0))
      case "/nothing": return HTTPResponse(status: 204)
      case "/moved": return HTTPResponse(status: 302, headers: ["Location": "/echo"])
      case "/slow": try? await Task.sleep(for: .seconds(3))
      default: break
      }
      var response = HTTPResponse(
        status: request.path == "/missing" ? 404 : 200, type: "Text/Plain; charset=utf-8",
        body: Array("\(request.method.rawValue) \(request.path) \(request.query) ".utf8) + request.body)
      response.headers.add(
        "x-came", request.headers.fields.map { "\($0.name)=\($0.value)" }.joined(separator: "|"))
      response.headers.add("x-twice", "a")
      response.headers.add("x-twice", "b")
      return response
    }

    func upgrade(_ request: HTTPRequest) async -> UpgradeDecision { .refuse(HTTPResponse(status: 404)) }
  }

  /// - Parameter body: on a thread of its own, since it blocks.
  private func withServer(
    tls: TLSContext? = nil, _ body: @escaping @Sendable (HTTPURL) throws -> Void
  ) async throws {
    let server = try HTTPServer(
      configuration: HTTPServerConfiguration(
        listeners: [.init(SocketAddress(ipv4: 127, 0, 0, 1, port: 0))], tls: tls), handler: Echo())
    let url = try #require(
      HTTPURL("\(tls == nil ? "http" : "https")://127.0.0.1:\(server.addresses[0].port)"))
    let result: Result<Void, any Error> = await withCheckedContinuation { continuation in
      Thread { continuation.resume(returning: Result { try body(url) }) }.start()
    }
    await server.shutdown(grace: .seconds(1))
    try result.get()
  }

  private func text(_ answer: HTTPAnswer) -> String { String(decoding: answer.body, as: UTF8.self) }

  // MARK: Requests and answers

  @Test func `each method comes as it is, with its body`() async throws {
    try await withServer { url in
      let client = HTTPClient()
      for method in [HTTPClientRequest.Method.get, .post, .put, .patch, .delete] {
        for body in ["", "ü", String(repeating: "x", count: 300_000)] where method != .get || body.isEmpty {
          var request = HTTPClientRequest(method, url.appending(["a", "ü"], query: [("q", "1 2")]))
          request.body = Array(body.utf8)
          let answer = try client.answer(to: request)
          #expect(answer.head.status == 200)
          #expect(text(answer) == "\(method.rawValue) /a/%C3%BC q=1%202 \(body)")
        }
      }
    }
  }

  @Test func `HEAD has no body, and 204 has none`() async throws {
    try await withServer { url in
      let client = HTTPClient()
      let head = try client.answer(to: HTTPClientRequest(.head, url))
      #expect(head.head.status == 200 && head.body.isEmpty)
      let nothing = try client.answer(to: HTTPClientRequest(.get, url.appending(["nothing"])))
      #expect(nothing.head.status == 204 && nothing.body.isEmpty)
    }
  }

  @Test func `fields go out as they are, and libcurl adds none that mean something`() async throws {
    try await withServer { url in
      var request = HTTPClientRequest(.post, url)
      request.body = [1]
      request.headers = [("X-One", "1, ü"), ("X-None", ""), ("Authorization", "Bearer x")]
      let answer = try HTTPClient().answer(to: request)
      let came = try #require(answer.head["x-came"]).split(separator: "|").map { $0.split(separator: "=")[0] }
      #expect(Set(came) == ["host", "accept", "content-length", "x-one", "x-none", "authorization"])
      #expect(answer.head["x-came"]?.contains("x-one=1, ü|") == true)
      #expect(answer.head.headers["x-twice"] == ["a", "b"] && answer.head.type == "text/plain")
    }
  }

  @Test(arguments: [
    ("a b", "c"), ("", "c"), ("a:", "c"), ("ü", "c"), ("a", "b\r\nc: d"), ("a", "b\nc"), ("a", "\0"),
  ])
  func `a field that would be two is refused before anything is sent`(name: String, value: String) throws {
    var request = HTTPClientRequest(.get, try #require(HTTPURL("http://127.0.0.1:9")))
    request.headers = [(name, value)]
    let client = HTTPClient()
    #expect(throws: HTTPClientError.request("the header field \(name) can't be written")) {
      try client.answer(to: request)
    }
    #expect(client.count == 0)
  }

  @Test func `a redirect is an answer, and isn't followed`() async throws {
    try await withServer { url in
      let answer = try HTTPClient().answer(to: HTTPClientRequest(.get, url.appending(["moved"])))
      #expect(answer.head.status == 302 && answer.head["location"] == "/echo")
    }
  }

  @Test func `an error of the server's is an answer`() async throws {
    try await withServer { url in
      let answer = try HTTPClient().answer(to: HTTPClientRequest(.get, url.appending(["missing"])))
      #expect(answer.head.status == 404 && text(answer).hasPrefix("GET /missing"))
    }
  }

  // MARK: Bounds

  @Test func `a body of just the limit is read, and one byte more is refused`() async throws {
    try await withServer { url in
      let client = HTTPClient()
      var request = HTTPClientRequest(.get, url.appending(["large"]))
      request.limit = 100_000
      for (size, fits) in [(100_000, true), (100_001, false), (20_000_000, false)] {
        let large = try #require(HTTPURL("\(url)/large?\(size)"))
        request.url = large
        if fits {
          #expect(try client.answer(to: request).body.count == size)
        } else {
          #expect(throws: HTTPClientError.tooLarge(limit: 100_000)) { try client.answer(to: request) }
        }
        #expect(client.count == 0)
      }
    }
  }

  @Test func `an answer that takes too long is given up, and what comes later is another's`() async throws {
    try await withServer { url in
      let client = HTTPClient()
      var request = HTTPClientRequest(.get, url.appending(["slow"]))
      request.milliseconds = 200
      #expect(throws: HTTPClientError.timeout) { try client.answer(to: request) }
      let next = try client.answer(to: HTTPClientRequest(.get, url))
      #expect(text(next) == "GET /  ")
    }
  }

  // MARK: Several at once

  @Test func `requests at once have each their own answer, and a slow one holds up none`() async throws {
    try await withServer { url in
      let client = HTTPClient()
      let slow = try client.begin(HTTPClientRequest(.get, url.appending(["slow"])))
      var waiting: [HTTPClient.TransferID: String] = [:]
      for number in 0..<50 {
        waiting[try client.begin(HTTPClientRequest(.get, url.appending(["\(number)"])))] = "GET /\(number)  "
      }
      while !waiting.isEmpty {
        let events = client.wait(milliseconds: 1_500)
        guard !events.isEmpty else { break }
        for case .answered(let id, let answer) in events {
          #expect(waiting.removeValue(forKey: id) == text(answer))
        }
      }
      #expect(waiting.isEmpty && client.count == 1)
      client.cancel(slow)
      #expect(client.count == 0 && client.wait(milliseconds: 0).isEmpty)
    }
  }

  // MARK: Who the server is

  private func identity() throws -> TLSIdentity {
    try TLSIdentity(
      selfSignedFor: [SocketAddress(ipv4: 127, 0, 0, 1, port: 0)], names: [], notBefore: 1_700_000_000,
      notAfter: 4_000_000_000)
  }

  @Test func `a certificate that no authority vouches for is refused, unless any server will do`()
    async throws
  {
    try await withServer(tls: TLSContext(identity())) { url in
      let error = #expect(throws: HTTPClientError.self) {
        try HTTPClient().answer(to: HTTPClientRequest(.get, url))
      }
      guard case .certificate = error else {
        Issue.record("\(error.debugDescription)")
        return
      }
      let answer = try HTTPClient(trust: .anyone).answer(to: HTTPClientRequest(.get, url))
      #expect(answer.head.status == 200)
    }
  }

  @Test func `a file of authorities that isn't there is named as what is wrong`() async throws {
    try await withServer(tls: TLSContext(identity())) { url in
      let error = #expect(throws: HTTPClientError.self) {
        try HTTPClient(trust: .file("/nowhere.pem")).answer(to: HTTPClientRequest(.get, url))
      }
      guard case .authorities(let text) = error else {
        Issue.record("\(error.debugDescription)")
        return
      }
      #expect(text.contains("/nowhere.pem"))
    }
  }
}
