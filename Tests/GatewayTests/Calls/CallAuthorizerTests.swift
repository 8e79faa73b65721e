import AccessTokens
import CallDesk
import Calls
import Foundation
import HTTPClient
import HTTPServer
import Model
import Synchronization
import TestStores
import Testing

@testable import Gateway

@Suite("The app is asked who may call whom", .timeLimit(.minutes(1)))
struct CallAuthorizerTests {
  /// Says yes to calls of Bob alone: a moment later where Zoe calls, and too late where Tim does.
  private final class App: HTTPHandler {
    private let bodies = Mutex<[String]>([])
    private let isClosed = Mutex(false)

    func respond(to request: HTTPRequest) async -> HTTPResponse {
      let text = String(decoding: request.body, as: UTF8.self)
      bodies.withLock { $0.append(text) }
      if text.contains("\"caller\":\"zoe\"") { try? await Task.sleep(for: .milliseconds(200)) }
      if text.contains("\"caller\":\"tim\"") { try? await Task.sleep(for: .milliseconds(1_600)) }
      return HTTPResponse(status: text.contains("[\"bob\"]") && !isClosed.withLock { $0 } ? 204 : 403)
    }

    /// From now on it says no to all.
    func refuse() { isClosed.withLock { $0 = true } }

    func upgrade(_ request: HTTPRequest) async -> UpgradeDecision { .refuse(HTTPResponse(status: 404)) }
    var all: [String] { bodies.withLock { $0 } }
  }

  private func withApp(_ kind: StoreKind, _ body: (CallHouse, App) async throws -> Void) async throws {
    let app = App()
    let server = try HTTPServer(
      configuration: HTTPServerConfiguration(
        listeners: [.init(SocketAddress(ipv4: 127, 0, 0, 1, port: 0))]), handler: app)
    let url = try #require(HTTPURL("http://127.0.0.1:\(server.addresses[0].port)/may"))
    let asking = CallAuthorizer(asking: url, key: "APIkey", secret: "secret") { House.now }
    let calls = try await CallHouse(on: kind, authorizer: asking)
    try await body(calls, app)
    await server.shutdown(grace: .seconds(1))
  }

  @Test(arguments: StoreKind.allCases)
  func `who may call rings, and who may not is refused before anyone hears of it`(kind: StoreKind)
    async throws
  {
    try await withApp(kind) { calls, app in
      #expect(await calls.start("ada", "bob").answer.status == 201)
      let refused = await calls.start("ada", "eve")
      #expect(refused.answer.status == 403 && refused.answer.problem == "not-allowed")
      #expect(await calls.ask(.get, "/v1/calls/\(refused.id)", by: "eve").status == 404)
      #expect(app.all.count == 2 && app.all[0].contains("call.authorize"))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `one who is in a call can't invite whom it may not call`(kind: StoreKind) async throws {
    try await withApp(kind) { calls, _ in
      let (id, _) = await calls.start("ada", "bob")
      let refused = await calls.ask(.post, "/v1/calls/\(id)/invite", #"{"recipients":["eve"]}"#, by: "ada")
      #expect(refused.status == 403 && refused.problem == "not-allowed")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a start that is sent again is answered as it was, whatever the app says by now, which isn't asked`(
    kind: StoreKind
  )
    async throws
  {
    try await withApp(kind) { calls, app in
      let (id, first) = await calls.start("ada", "bob")
      #expect(first.status == 201)
      app.refuse()
      let asked = app.all.count
      let again = await calls.start("ada", "bob", id: id).answer
      #expect(again.status == 201 && again["session"] as? String == first["session"] as? String)
      #expect(app.all.count == asked)
      // Something else by the same id, and the same by another person, are none of it.
      #expect(await calls.start("ada", "bob", id: id, more: #","metadata":"m""#).answer.status == 403)
      #expect(await calls.start("eve", "bob", id: id).answer.status == 403)
      // The app isn't asked any more about Ada, for now.
      for _ in 0..<12 { _ = await calls.start("ada", "bob") }
      #expect(await calls.start("ada", "bob").answer.status == 429)
      #expect(await calls.start("ada", "bob", id: id).answer.status == 201)
      // Its answer is kept for a day; what it began is known for longer.
      calls.clock.move(2 * 86_400_000)
      await calls.desk.tidy()
      let late = await calls.start("ada", "bob", id: id).answer
      #expect(late.status == 201 && (late["call"] as? NSDictionary)?["id"] as? String == id)
      #expect(await calls.start("eve", "bob", id: id).answer.status == 403)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a yes within a second is one, and a second without an answer is a no, whatever comes then`(
    kind: StoreKind
  ) async throws {
    try await withApp(kind) { calls, _ in
      let began = ContinuousClock.now
      #expect(await calls.start("tim", "bob").answer.status == 403)
      #expect(ContinuousClock.now - began >= .milliseconds(990))
      #expect(await calls.start("zoe", "bob").answer.status == 201)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a server that isn't there lets no one through`(kind: StoreKind) async throws {
    let url = try #require(HTTPURL("http://127.0.0.1:9/may"))
    let calls = try await CallHouse(
      on: kind, authorizer: CallAuthorizer(asking: url, key: "k", secret: "s") { House.now })
    #expect(await calls.start("ada", "bob").answer.status == 403)
  }

  @Test(arguments: StoreKind.allCases)
  func `the app is asked no more often than calls may be started`(kind: StoreKind) async throws {
    try await withApp(kind) { calls, app in
      for _ in 0..<15 { _ = await calls.start("ada", "bob") }
      #expect(app.all.count <= 10)
    }
  }
}
