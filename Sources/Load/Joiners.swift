internal import HTTPClient
internal import Polling
internal import WebSocketClient

/// Opens WebSockets and WHIP and WHEP sessions on threads of their own, a few at once, so that a slow one holds up neither
/// the others nor the media. It belongs to one thread, which waits on its descriptor.
final class Joiners {
  struct Request: Sendable {
    enum Place: Sendable {
      case webSocket(WebSocketURL)
      /// A session by WHIP or WHEP, with this offer.
      case session(HTTPURL, offer: String)
    }

    var participant: Int
    var place: Place
    var token: String
    var milliseconds: Int
    var checksCertificate: Bool
  }

  struct Answer: Sendable {
    enum Opened: Sendable {
      case webSocket(WebSocketClient)
      case session(StandaloneSession)
    }

    var participant: Int
    var result: Result<Opened, LoadError>
  }

  /// How many are opened at once.
  private static let limit = 8

  private let answers: Mailbox<Answer>
  private let wakeup = Wakeup()
  /// Readable when there is an answer.
  var descriptor: Int32 { wakeup.descriptor }
  /// The oldest first.
  private var waiting: [Request] = []
  private var running = 0

  init() throws(LoadError) {
    guard wakeup.descriptor >= 0 else { throw LoadError.system("eventfd") }
    answers = Mailbox(limit: .max, wake: { [wakeup] in wakeup.signal() })
  }

  func add(_ request: Request) {
    waiting.append(request)
    advance()
  }

  func takeAnswers() -> [Answer] {
    wakeup.clear()
    let all = answers.take()
    running -= all.count
    advance()
    return all
  }

  /// Opens no more.
  func stop() { waiting = [] }

  private func advance() {
    while running < Self.limit, !waiting.isEmpty {
      let request = waiting.removeFirst()
      running += 1
      do throws(LoadError) {
        try LoadThread.start { [answers] in answers.post(Self.answer(request)) }
      } catch {
        answers.post(Answer(participant: request.participant, result: .failure(error)))
      }
    }
  }

  private static func answer(_ request: Request) -> Answer {
    do throws(LoadError) {
      return Answer(participant: request.participant, result: .success(try open(request)))
    } catch {
      return Answer(participant: request.participant, result: .failure(error))
    }
  }

  private static func open(_ request: Request) throws(LoadError) -> Answer.Opened {
    switch request.place {
    case .webSocket(let url):
      do throws(WebSocketClientError) {
        return .webSocket(
          try WebSocketClient(
            url, protocol: "roost.v1", headers: [("Authorization", "Bearer \(request.token)")],
            milliseconds: request.milliseconds, checksCertificate: request.checksCertificate))
      } catch {
        throw LoadError("\(error)")
      }
    case .session(let url, let offer):
      return .session(
        try StandaloneSession(
          offer: offer, to: url, token: request.token, milliseconds: request.milliseconds,
          checksCertificate: request.checksCertificate))
    }
  }
}
