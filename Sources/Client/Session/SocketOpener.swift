internal import HTTPClient
internal import Polling
internal import WebSocketClient

/// Opens WebSockets of one place: the first one at once, others on a thread of their own, so that media goes on meanwhile.
final class SocketOpener: Sendable {
  typealias Answer = Result<WebSocketClient, WebSocketClientError>

  private let url: WebSocketURL
  private let checksCertificate: Bool
  private let authorities: String?
  private let answers: Mailbox<Answer>
  private let wakeup = Wakeup()

  /// Readable when there is an answer.
  var descriptor: Int32 { wakeup.descriptor }

  init(_ terms: ClientTerms) throws(ClientError) {
    let place = terms.server.appending(["v1", "rooms", terms.room, "connect"]).description
    guard let url = WebSocketURL(place) else { throw .system("\(place) is no place for a room") }
    self.url = url
    checksCertificate = !terms.isInsecure
    authorities = terms.authorities
    answers = Mailbox(limit: .max, wake: { [wakeup] in wakeup.signal() })
  }

  /// Blocks until it is open.
  /// - Parameter token: nil: the first message says who it is.
  func open(token: String?) throws(WebSocketClientError) -> WebSocketClient {
    try WebSocketClient(
      url, protocol: "roost.v1", headers: token.map { [("Authorization", "Bearer \($0)")] } ?? [],
      checksCertificate: checksCertificate, authorities: authorities)
  }

  /// Opens one; `take` has what comes of it.
  func begin() {
    let status = DetachedThread.start { [self] in
      do throws(WebSocketClientError) {
        answers.post(.success(try open(token: nil)))
      } catch {
        answers.post(.failure(error))
      }
    }
    if status != 0 { answers.post(.failure(.connection("no thread"))) }
  }

  func take() -> Answer? {
    wakeup.clear()
    return answers.take().last
  }
}
