import HTTPServer
import Model
import Synchronization

/// A body that says what a test gives it, and notes what it was asked.
final class TestSource: HTTPBodySource {
  let signal: HTTPBodySignal
  private let gone: Counter
  private struct State {
    var pieces: [String] = []
    var isEnded = false
    var isEndless = false
    var mustEnd = false
    var endings: [HTTPBodyEnding] = []
    var bytes = 0
    var asked = 0
  }
  private let state = Mutex(State())

  init(_ signal: HTTPBodySignal = HTTPBodySignal(), gone: Counter) {
    self.signal = signal
    self.gone = gone
  }

  deinit { gone.increase() }

  /// What it was asked to end for.
  var endings: [HTTPBodyEnding] { state.withLock { $0.endings } }
  /// What it was asked to say, and how often.
  var bytes: Int { state.withLock { $0.bytes } }
  var asked: Int { state.withLock { $0.asked } }

  /// - Parameter raising: whether its signal is raised.
  func say(_ text: String, raising: Bool = true) {
    state.withLock { $0.pieces.append(text) }
    if raising { signal.raise() }
  }

  func end() {
    state.withLock { $0.isEnded = true }
    signal.raise()
  }

  /// From here on it has something to say whenever it is asked.
  func flood() {
    state.withLock { $0.isEndless = true }
    signal.raise()
  }

  /// It may say no more.
  func forbid() {
    state.withLock { $0.mustEnd = true }
    signal.raise()
  }

  func mustEnd(now: Instant) -> Bool { state.withLock { $0.mustEnd } }

  func produce(
    into bytes: inout [UInt8], enough: Int, now: Instant, ending: HTTPBodyEnding?
  ) -> HTTPBodyStep {
    state.withLock { state in
      let before = bytes.count
      defer { state.bytes += bytes.count - before }
      state.asked += 1
      if let ending { state.endings.append(ending) }
      if ending == .stalled {
        bytes += Array("too slow".utf8)
        return .end
      }
      while !state.pieces.isEmpty, bytes.count - before < enough {
        bytes += Array(state.pieces.removeFirst().utf8)
      }
      if ending == .shutdown, state.pieces.isEmpty {
        bytes += Array("farewell".utf8)
        return .end
      }
      if state.isEndless {
        bytes += [UInt8](repeating: 46, count: enough)
        return .more
      }
      guard state.pieces.isEmpty else { return .more }
      return state.isEnded ? .end : .wait(until: .never)
    }
  }
}

/// Answers each request for `/stream` by a body of its own; other paths are those of `EchoHandler`.
final class StreamHandler: HTTPHandler {
  let gone = Counter()
  private let echo = EchoHandler()
  private let shared = HTTPBodySignal()
  private let made = Mutex<[TestSource]>([])

  /// In the order in which they were asked for.
  var sources: [TestSource] { made.withLock { $0 } }
  var gate: Gate { echo.gate }
  var started: Counter { echo.started }

  /// Lets go of what only a connection should still have.
  func forget() { made.withLock { $0 = [] } }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    if request.path == "/slow" { _ = await echo.respond(to: request) }
    guard request.path != "/", request.path != "/echo" else { return await echo.respond(to: request) }
    var response = HTTPResponse(
      status: 200,
      headers: [
        "content-type": "text/plain", "content-length": "3", "access-control-allow-origin": "*",
        "vary": "accept",
      ], body: request.path == "/begun" ? Array("begun ".utf8) : [])
    let source = TestSource(request.path == "/shared" ? shared : HTTPBodySignal(), gone: gone)
    made.withLock { $0.append(source) }
    response.stream = source
    return response
  }

  func upgrade(_ request: HTTPRequest) async -> UpgradeDecision { .refuse(HTTPResponse(status: 404)) }
}
