internal import Engine
internal import HTTPClient
internal import Model
internal import Polling

/// REST and event streams on a thread of their own: asks what it is given, and says what was answered and heard.
final class HTTPDesk: Sendable {
  enum Order: Sendable {
    case ask(Int, HTTPClientRequest)
    /// A stream of events.
    case listen(Int, HTTPClientRequest)
    case drop(Int)
    case stop
  }

  struct News: Sendable {
    enum Content: Sendable {
      case answered(HTTPAnswer)
      case heard([ServerSentEvent])
      /// Nothing follows: of a stream it is over, of a request there is no answer.
      case failed(String)
    }

    /// As it was ordered.
    var number: Int
    var at: Instant
    var content: Content
  }

  private let orders: Mailbox<Order>
  private let news: Mailbox<News>
  private let wakeup = Wakeup()

  /// - Parameter clock: by which what comes is timed.
  init(trust: HTTPClient.Trust, clock: Clock) throws(LoadError) {
    guard wakeup.descriptor >= 0 else { throw LoadError.system("eventfd") }
    let waker = HTTPClientWaker()
    orders = Mailbox(limit: .max, wake: { waker.wake() })
    news = Mailbox(limit: .max, wake: { [wakeup] in wakeup.signal() })
    try LoadThread.start { [orders, news] in
      let worker = Worker(HTTPClient(trust: trust, waker: waker), clock)
      worker.run(orders, news)
    }
  }

  /// Readable when there is news.
  var descriptor: Int32 { wakeup.descriptor }

  func post(_ order: Order) { orders.post(order, force: true) }

  func takeNews() -> [News] {
    wakeup.clear()
    return news.take()
  }

  func stop() { orders.post(.stop, force: true) }

  // MARK: The thread

  private final class Worker {
    private let client: HTTPClient
    private let clock: Clock
    private var numbers: [HTTPClient.TransferID: Int] = [:]
    private var transfers: [Int: HTTPClient.TransferID] = [:]
    private var readers: [Int: EventStreamReader] = [:]

    init(_ client: HTTPClient, _ clock: Clock) {
      self.client = client
      self.clock = clock
    }

    func run(_ orders: Mailbox<Order>, _ news: Mailbox<News>) {
      while true {
        let events = client.wait(milliseconds: 60_000)
        let now = clock.now
        for event in events {
          guard let (number, content) = take(event) else { continue }
          news.post(News(number: number, at: now, content: content), force: true)
        }
        for order in orders.take() {
          switch order {
          case .ask(let number, let request), .listen(let number, let request):
            if let failure = begin(number, request) {
              news.post(News(number: number, at: now, content: .failed(failure)), force: true)
            }
          case .drop(let number):
            guard let id = transfers[number] else { continue }
            forget(id)
            client.cancel(id)
          case .stop: return
          }
        }
      }
    }

    private func begin(_ number: Int, _ request: HTTPClientRequest) -> String? {
      do throws(HTTPClientError) {
        let id = try client.begin(request)
        numbers[id] = number
        transfers[number] = id
        if request.isStream { readers[number] = EventStreamReader() }
        return nil
      } catch { return "\(error)" }
    }

    private func take(_ event: HTTPClient.Event) -> (Int, News.Content)? {
      switch event {
      case .answered(let id, let answer): return forget(id).map { ($0, .answered(answer)) }
      case .began(let id, let head):
        guard head.status != 200 else { return nil }
        client.cancel(id)
        return forget(id).map { ($0, .failed("status \(head.status)")) }
      case .came(let id, let bytes): return read(bytes, id)
      case .ended(let id): return forget(id).map { ($0, .failed("the stream ended")) }
      case .failed(let id, let error): return forget(id).map { ($0, .failed("\(error)")) }
      }
    }

    private func read(_ bytes: [UInt8], _ id: HTTPClient.TransferID) -> (Int, News.Content)? {
      guard let number = numbers[id] else { return nil }
      do throws(EventStreamError) {
        let events = try readers[number]?.read(bytes) ?? []
        return events.isEmpty ? nil : (number, .heard(events))
      } catch {
        client.cancel(id)
        forget(id)
        return (number, .failed("an event that is too long"))
      }
    }

    @discardableResult
    private func forget(_ id: HTTPClient.TransferID) -> Int? {
      guard let number = numbers.removeValue(forKey: id) else { return nil }
      transfers[number] = nil
      readers[number] = nil
      return number
    }
  }
}
