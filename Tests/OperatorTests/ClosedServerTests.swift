import Client
import Configuration
import Foundation
import Glibc
import HTTPClient
import HTTPServer
import Model
import Testing

@testable import Operator

@Suite("Commands in a room whose server has something else to say", .timeLimit(.minutes(1)))
struct ClosedServerTests {
  /// Ends each session before it has begun.
  private struct Closing: HTTPHandler {
    let reason: LeaveReason

    func respond(to request: HTTPRequest) async -> HTTPResponse { HTTPResponse(status: 404) }

    func upgrade(_ request: HTTPRequest) async -> UpgradeDecision {
      .accept(subprotocol: "roost.v1") { socket in
        _ = socket.send(#"{"type":"closed","reason":"\#(reason.rawValue)"}"#)
        for await _ in socket.messages {}
      }
    }
  }

  /// What becomes of `roost record`.
  private func record(_ reason: LeaveReason) async throws -> OperatorError? {
    let server = try HTTPServer(
      configuration: HTTPServerConfiguration(
        listeners: [.init(SocketAddress(ipv4: 127, 0, 0, 1, port: 0))], tls: nil),
      handler: Closing(reason: reason))
    let port = server.addresses[0].port
    let url = try #require(HTTPURL("http://127.0.0.1:\(port)"))
    let found: OperatorError? = await withCheckedContinuation { continuation in
      Thread {
        var signals: [Int32] = [-1, -1]
        _ = pipe(&signals)
        defer { for end in signals { close(end) } }
        let run = RecordRun(
          wanted: RecordWanted(SessionWanted(room: "demo")),
          terms: ClientTerms(server: url, room: "demo", token: "t"), style: Style(), note: { _ in },
          show: { _ in })
        do throws(OperatorError) {
          try run.run(signals: signals[0])
          continuation.resume(returning: nil)
        } catch { continuation.resume(returning: error) }
      }.start()
    }
    await server.shutdown(grace: .milliseconds(100))
    return found
  }

  @Test(arguments: [(.serverShutdown, 7), (.removed, 4), (.roomClosed, 5)] as [(LeaveReason, Int32)])
  func `a recording that the server ends before it has begun has failed`(reason: LeaveReason, code: Int32)
    async throws
  {
    let error = try await record(reason)
    #expect(error?.exitCode == code)
  }
}
