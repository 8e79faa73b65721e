import Crypto
import Foundation
import HTTPServer
import Model
import Testing

@testable import WebSocketClient

@Suite("One HTTP request against the server, over real sockets", .timeLimit(.minutes(2)))
struct HTTPExchangeTests {
  /// Says what it was asked; `/long` is longer than is taken, `/moved` leads elsewhere.
  private struct Mirror: HTTPHandler {
    func respond(to request: HTTPRequest) async -> HTTPResponse {
      switch request.path {
      case "/long":
        return HTTPResponse(
          status: 200, type: "text/plain", body: [UInt8](repeating: 0x61, count: HTTPExchange.answerLimit + 1)
        )
      case "/moved": return HTTPResponse(status: 307, headers: ["location": "/elsewhere"])
      case "/slow":
        try? await Task.sleep(for: .seconds(3))
        return HTTPResponse(status: 204)
      default:
        let said = "\(request.method) \(request.path) \(request.bearerToken ?? "-") "
        var response = HTTPResponse(status: 201, type: "text/plain", body: Array(said.utf8) + request.body)
        response.headers.add("location", "/sessions/1")
        return response
      }
    }

    func upgrade(_ request: HTTPRequest) async -> UpgradeDecision { .refuse(HTTPResponse(status: 404)) }
  }

  /// - Parameter body: on a thread of its own, since it blocks.
  private func withServer(_ body: @escaping @Sendable (SocketAddress) throws -> Void) async throws {
    let server = try HTTPServer(
      configuration: HTTPServerConfiguration(
        listeners: [.init(SocketAddress(ipv4: 127, 0, 0, 1, port: 0))]), handler: Mirror())
    let address = server.addresses[0]
    let result: Result<Void, any Error> = await withCheckedContinuation { continuation in
      Thread { continuation.resume(returning: Result { try body(address) }) }.start()
    }
    await server.shutdown(grace: .seconds(1))
    try result.get()
  }

  private func url(_ address: SocketAddress, _ path: String) throws -> WebSocketURL {
    try #require(WebSocketURL("http://127.0.0.1:\(address.port)\(path)"))
  }

  @Test(arguments: ["POST", "DELETE", "PATCH"])
  func `method, path, headers and body arrive, and the answer comes back`(
    method: String
  ) async throws {
    try await withServer { address in
      for body in [[UInt8](), Array("v=0".utf8), [UInt8](repeating: 0x62, count: 40_000)] {
        let answer = try HTTPExchange.send(
          method, try url(address, "/whip/a%20room"), headers: [("Authorization", "Bearer t")], body: body)
        #expect(answer.status == 201 && answer.header("location") == "/sessions/1")
        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(text.hasPrefix("\(method) /whip/") && text.contains(" t "))
        #expect(answer.body.suffix(body.count).elementsEqual(body))
      }
    }
  }

  @Test func `without a body there is none`() async throws {
    try await withServer { address in
      let answer = try HTTPExchange.send("DELETE", try url(address, "/x"))
      #expect(String(decoding: answer.body, as: UTF8.self) == "DELETE /x - ")
      #expect(answer.header("LOCATION") == nil)
    }
  }

  @Test func `a redirect is an answer, and is not followed`() async throws {
    try await withServer { address in
      let moved = try HTTPExchange.send("GET", try url(address, "/moved"))
      #expect(moved.status == 307)
    }
  }

  @Test func `an answer that is too long, or too late, is an error`() async throws {
    try await withServer { address in
      #expect(throws: WebSocketClientError.handshake("the answer is too long")) {
        try HTTPExchange.send("GET", try url(address, "/long"))
      }
      #expect(throws: WebSocketClientError.timeout) {
        try HTTPExchange.send("GET", try url(address, "/slow"), milliseconds: 200)
      }
    }
  }

  @Test func `a server that isn't there is an error in libcurl's words`() throws {
    let nowhere = try #require(WebSocketURL("http://127.0.0.1:1/"))
    #expect(throws: WebSocketClientError.self) { try HTTPExchange.send("GET", nowhere, milliseconds: 2_000) }
  }
}
