import Foundation
import HTTPClient
import HTTPServer
import Model
import Push
import Synchronization
import Testing

/// The app's own server for pushes: takes what comes, and answers as it is asked to.
final class PushReceiver: HTTPHandler {
  struct Push: Sendable {
    let device: String
    let type: String
    let ringId: String
    let text: String
    /// When it came.
    let at = ContinuousClock.now

    init?(_ body: [UInt8]) {
      guard let json = try? JSONSerialization.jsonObject(with: Data(body)) as? NSDictionary,
        let push = json["push"] as? NSDictionary, let token = json["token"] as? String
      else { return nil }
      device = token
      type = push["type"] as? String ?? ""
      ringId = push["ringId"] as? String ?? ""
      text = String(decoding: body, as: UTF8.self)
    }

    subscript(key: String) -> String? {
      let json = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary
      return (json?["push"] as? NSDictionary)?[key] as? String
    }
  }

  private let pushes = Mutex<[Push]>([])
  /// By the device's token.
  private let statuses: [String: Int]

  init(_ statuses: [String: Int] = [:]) { self.statuses = statuses }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    guard let push = Push(request.body) else { return HTTPResponse(status: 400) }
    pushes.withLock { $0.append(push) }
    return HTTPResponse(status: statuses[push.device] ?? 204)
  }

  func upgrade(_ request: HTTPRequest) async -> UpgradeDecision { .refuse(HTTPResponse(status: 404)) }

  var all: [Push] { pushes.withLock { $0 } }

  /// Waits for so many.
  func wait(_ count: Int) async throws -> [Push] {
    for _ in 0..<1_000 {
      if all.count >= count { return all }
      try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("\(all.count) pushes of \(count) came within ten seconds")
    return all
  }

  /// With a receiver, and the services that reach it.
  static func with(
    _ statuses: [String: Int] = [:], _ body: (PushReceiver, PushDesk.Services) async throws -> Void
  ) async throws {
    let receiver = PushReceiver(statuses)
    let server = try HTTPServer(
      configuration: HTTPServerConfiguration(
        listeners: [.init(SocketAddress(ipv4: 127, 0, 0, 1, port: 0))]), handler: receiver)
    let url = try #require(HTTPURL("http://127.0.0.1:\(server.addresses[0].port)/push"))
    do {
      try await body(
        receiver, PushDesk.Services(webhook: PushWebhookTerms(url: url, key: "APIkey", secret: "secret")))
    } catch {
      await server.shutdown(grace: .seconds(1))
      throw error
    }
    await server.shutdown(grace: .seconds(1))
  }
}
