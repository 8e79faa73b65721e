import AccessTokens
import CallDesk
import Calls
import Foundation
import HTTPClient
import HTTPServer
import Model
import Synchronization
import Testing

@testable import Gateway

@Suite("The app is asked who may call whom", .timeLimit(.minutes(1)))
struct CallAuthorizerTests {
  /// Says yes to calls of Bob alone, and nothing at all where Tim calls.
  private final class App: HTTPHandler {
    private let bodies = Mutex<[String]>([])

    func respond(to request: HTTPRequest) async -> HTTPResponse {
      let text = String(decoding: request.body, as: UTF8.self)
      bodies.withLock { $0.append(text) }
      if text.contains("\"caller\":\"tim\"") { try? await Task.sleep(for: .seconds(3)) }
      return HTTPResponse(status: text.contains("[\"bob\"]") ? 204 : 403)
    }

    func upgrade(_ request: HTTPRequest) async -> UpgradeDecision { .refuse(HTTPResponse(status: 404)) }
    var all: [String] { bodies.withLock { $0 } }
  }

  private func withApp(_ body: (CallHouse, App) async throws -> Void) async throws {
    let app = App()
    let server = try HTTPServer(
      configuration: HTTPServerConfiguration(
        listeners: [.init(SocketAddress(ipv4: 127, 0, 0, 1, port: 0))]), handler: app)
    let url = try #require(HTTPURL("http://127.0.0.1:\(server.addresses[0].port)/may"))
    let asking = CallAuthorizer(asking: url, key: "APIkey", secret: "secret") { House.now }
    let calls = try await CallHouse(authorizer: asking)
    try await body(calls, app)
    await server.shutdown(grace: .seconds(1))
  }

  @Test func `who may call rings, and who may not is refused before anyone hears of it`() async throws {
    try await withApp { calls, app in
      #expect(await calls.start("ada", "bob").answer.status == 201)
      let refused = await calls.start("ada", "eve")
      #expect(refused.answer.status == 403 && refused.answer.problem == "not-allowed")
      #expect(await calls.ask(.get, "/v1/calls/\(refused.id)", by: "eve").status == 404)
      #expect(app.all.count == 2 && app.all[0].contains("call.authorize"))
    }
  }

  @Test func `one who is in a call can't invite whom it may not call`() async throws {
    try await withApp { calls, _ in
      let (id, _) = await calls.start("ada", "bob")
      let refused = await calls.ask(.post, "/v1/calls/\(id)/invite", #"{"recipients":["eve"]}"#, by: "ada")
      #expect(refused.status == 403 && refused.problem == "not-allowed")
    }
  }

  @Test func `a second without an answer is a no`() async throws {
    try await withApp { calls, _ in
      let began = ContinuousClock.now
      #expect(await calls.start("tim", "bob").answer.status == 403)
      #expect(ContinuousClock.now - began < .seconds(3))
    }
  }

  @Test func `a server that isn't there lets no one through`() async throws {
    let url = try #require(HTTPURL("http://127.0.0.1:9/may"))
    let calls = try await CallHouse(
      authorizer: CallAuthorizer(asking: url, key: "k", secret: "s") { House.now })
    #expect(await calls.start("ada", "bob").answer.status == 403)
  }

  @Test func `the app is asked no more often than calls may be started`() async throws {
    try await withApp { calls, app in
      for _ in 0..<15 { _ = await calls.start("ada", "bob") }
      #expect(app.all.count <= 10)
    }
  }
}
