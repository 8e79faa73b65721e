import Foundation
import HTTPServer
import Model
import Synchronization

/// A server that lets one in, breaks the connection, and takes the next one without another word.
final class SilentServer: HTTPHandler {
  static let joined = #"""
    {"type":"joined","participant":{"id":"PA_1","identity":"ada","attributes":{},"tracks":[],"permissions":{"canPublish":true,
    "canSubscribe":true,"canPublishData":true,"canUpdateOwnMetadata":false}},"room":{"id":"RM_1","name":"demo"},"participants":[],
    "iceServers":[],"resumeToken":"again","pingInterval":20,"lastEvent":7}
    """#

  private let heard = Mutex<[String]>([])
  private let connections = Mutex(0)

  /// What it heard behind the first connection.
  var messages: [String] { heard.withLock { $0 } }

  func respond(to request: HTTPRequest) async -> HTTPResponse { HTTPResponse(status: 404) }

  func upgrade(_ request: HTTPRequest) async -> UpgradeDecision {
    let isFirst = connections.withLock { count in
      defer { count += 1 }
      return count == 0
    }
    return .accept(subprotocol: "roost.v1") { [self] socket in
      if isFirst {
        _ = socket.send(Self.joined)
        return socket.close(code: 1_012, reason: "")
      }
      for await text in socket.messages { heard.withLock { $0.append(text) } }
    }
  }

  /// - Parameter body: gets the server's port; on a thread of its own, since it blocks.
  func run(_ body: @escaping @Sendable (UInt16) throws -> Void) async throws {
    let server = try HTTPServer(
      configuration: HTTPServerConfiguration(
        listeners: [.init(SocketAddress(ipv4: 127, 0, 0, 1, port: 0))], tls: nil), handler: self)
    let port = server.addresses[0].port
    let result: Result<Void, any Error> = await withCheckedContinuation { continuation in
      Thread { continuation.resume(returning: Result { try body(port) }) }.start()
    }
    await server.shutdown(grace: .milliseconds(100))
    try result.get()
  }
}
