import Crypto
import HTTPServer
import Model
import Synchronization

/// Echoes requests and messages, with some paths of its own.
final class EchoHandler: HTTPHandler {
  /// `/slow` answers when this opens.
  let gate = Gate()
  let started = Counter()
  let cancelled = Counter()
  let endedSockets = Counter()
  /// Of those that drop what waits, how many have.
  let dropped = Counter()
  /// Of these, whose client had said its close.
  let closedByClient = Counter()

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    started.increase()
    switch request.path {
    case "/slow":
      await waitAtGate()
    case "/large": return HTTPResponse(status: 200, body: [UInt8](repeating: 65, count: 8_000_000))
    case "/nothing": return HTTPResponse(status: 204)
    case "/missing": return HTTPResponse(status: 404, type: "text/plain", body: Array("no".utf8))
    case "/fields":
      return HTTPResponse(
        status: 200,
        headers: [
          "Location": "/a\r\nset-cookie: x", "Content-Length": "7", "Connection": "upgrade", "Date": "never",
        ], body: Array("four".utf8))
    default: break
    }
    let text =
      "\(request.method.rawValue) \(request.path) \(request.query) \(request.remote.host) \(request.listener) "
    return HTTPResponse(status: 200, type: "text/plain", body: Array(text.utf8) + request.body)
  }

  private func waitAtGate() async {
    await withTaskCancellationHandler {
      await gate.wait()
    } onCancel: {
      cancelled.increase()
    }
  }

  /// `/slow` waits for the gate, `/missing` refuses; the others want `roost.v1`.
  func upgrade(_ request: HTTPRequest) async -> UpgradeDecision {
    if request.path == "/slow" { await waitAtGate() }
    guard request.path != "/missing" else { return .refuse(HTTPResponse(status: 403)) }
    guard request.offeredSubprotocols.contains("roost.v1") else { return .refuse(HTTPResponse(status: 400)) }
    let path = request.path
    return .accept(subprotocol: "roost.v1", greets: path == "/stranger") { socket in
      await self.serve(socket, path: path)
      if socket.heardClose { self.closedByClient.increase() }
      self.endedSockets.increase()
    }
  }

  /// `/flood` says more than anybody reads, `/opening` first what doesn't count and then, once asked, a flood, `/greeting` and `/farewell` say what doesn't count and return, `/dropping` drops it, `/many` a thousand messages and returns, `/deaf` and `/stranger` read nothing; the client of `/stranger` is not authenticated.
  private func serve(_ socket: WebSocket, path: String) async {
    switch path {
    case "/flood":
      let text = String(repeating: "x", count: 10_000)
      while socket.send(text) { await Task.yield() }
    case "/opening":
      let text = String(repeating: "x", count: 400_000)
      for _ in 0..<40 { socket.sendOpening(text) }
      socket.send("and on")
      for await _ in socket.messages { while socket.send(text) { await Task.yield() } }
    case "/greeting":
      socket.sendOpening(String(repeating: "x", count: 900_000))
    case "/farewell":
      let text = String(repeating: "x", count: 1_000_000)
      for _ in 0..<20 { socket.sendOpening(text) }
    case "/dropping":
      let text = String(repeating: "x", count: 1_000_000)
      for _ in 0..<20 { socket.sendOpening(text) }
      socket.drop()
      socket.send("farewell")
      dropped.increase()
    case "/many":
      for number in 0..<1000 { socket.send("\(number)") }
    case "/deaf", "/stranger":
      await gate.wait()
    default:
      for await message in socket.messages {
        if message == "close" { socket.close(code: 4005, reason: String(repeating: "ä", count: 80)) }
        if message == "return" { return }
        socket.send("echo " + message)
      }
    }
  }
}

final class Counter: Sendable {
  private let count = Mutex(0)
  var value: Int { count.withLock { $0 } }
  func increase() { count.withLock { $0 += 1 } }
}

/// Closed until it is opened. Each who waits has a stream of its own, because a stream that several wait on ends for
/// all of them when one is cancelled.
final class Gate: Sendable {
  private let waiting = Mutex<(isOpen: Bool, streams: [AsyncStream<Void>.Continuation])>((false, []))

  /// Returns when the gate is open or the task cancelled.
  func wait() async {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    let isOpen = waiting.withLock { state in
      if !state.isOpen { state.streams.append(continuation) }
      return state.isOpen
    }
    if isOpen { return }
    for await _ in stream {}
  }

  func open() {
    let streams = waiting.withLock { state in
      defer { state = (true, []) }
      return state.streams
    }
    for stream in streams { stream.finish() }
  }
}

/// A server on both loopback addresses for as long as `body` runs, on a thread of its own.
func withServer(
  _ handler: any HTTPHandler = EchoHandler(), tls: TLSContext? = nil,
  _ change: (inout HTTPLimits) -> Void = { _ in },
  _ body: @escaping @Sendable ([SocketAddress]) throws -> Void
) async throws {
  var limits = HTTPLimits()
  change(&limits)
  let server = try HTTPServer(
    configuration: HTTPServerConfiguration(listeners: loopback, limits: limits, tls: tls), handler: handler)
  let addresses = server.addresses
  let result: Result<Void, any Error>
  do {
    try await onThread { try body(addresses) }
    result = .success(())
  } catch {
    result = .failure(error)
  }
  await server.shutdown(grace: .seconds(1))
  try result.get()
}

let loopback: [HTTPServerConfiguration.Listener] = [
  .init(SocketAddress(ipv4: 127, 0, 0, 1, port: 0)), .init(SocketAddress(high: 0, low: 1, port: 0)),
]
