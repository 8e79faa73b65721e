internal import CSystem
internal import Glibc
internal import Synchronization
internal import WebSocketClient

/// Opens WebSockets on a few threads, so that a slow one holds up neither the others nor the media.
final class Joiners: Sendable {
  struct Request: Sendable {
    var participant: Int
    var url: WebSocketURL
    var token: String
    var milliseconds: Int
    var checksCertificate: Bool
  }

  struct Answer: Sendable {
    var participant: Int
    var result: Result<WebSocketClient, WebSocketClientError>
  }

  private struct Queues {
    var requests: [Request] = []
    var answers: [Answer] = []
    var isStopped = false
  }

  private let queues = Mutex(Queues())
  /// Becomes readable when there is an answer.
  let wakeup: Int32
  private let work: Int32

  init(threads: Int) throws(LoadError) {
    wakeup = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
    // A read takes one from the count, and waits where it is 0.
    work = eventfd(0, Int32(EFD_SEMAPHORE) | Int32(EFD_CLOEXEC))
    guard wakeup >= 0, work >= 0 else { throw LoadError("eventfd: \(String(cString: strerror(errno)))") }
    for _ in 0..<threads { try LoadThread.start { [self] in run() } }
  }

  deinit {
    close(wakeup)
    close(work)
  }

  func add(_ request: Request) {
    queues.withLock { $0.requests.append(request) }
    Self.signal(work)
  }

  func takeAnswers() -> [Answer] {
    var value: UInt64 = 0
    read(wakeup, &value, 8)
    return queues.withLock { queues in
      defer { queues.answers = [] }
      return queues.answers
    }
  }

  func stop(threads: Int) {
    queues.withLock { $0.isStopped = true }
    for _ in 0..<threads { Self.signal(work) }
  }

  private static func signal(_ descriptor: Int32) {
    var one: UInt64 = 1
    write(descriptor, &one, 8)
  }

  private func run() {
    while true {
      var value: UInt64 = 0
      guard read(work, &value, 8) == 8 else { continue }
      let (request, isStopped) = queues.withLock { queues in
        (queues.requests.isEmpty ? nil : queues.requests.removeFirst(), queues.isStopped)
      }
      guard !isStopped else { return }
      guard let request else { continue }
      let result: Result<WebSocketClient, WebSocketClientError>
      do throws(WebSocketClientError) {
        result = .success(
          try WebSocketClient(
            request.url, protocol: "roost.v1", headers: [("Authorization", "Bearer \(request.token)")],
            milliseconds: request.milliseconds, checksCertificate: request.checksCertificate))
      } catch { result = .failure(error) }
      queues.withLock { $0.answers.append(Answer(participant: request.participant, result: result)) }
      Self.signal(wakeup)
    }
  }
}
