public import Model
public import Peer
internal import Polling

/// The narrow way between the control plane and the workers: commands down, events up. One per engine; any
/// thread may use it.
public final class Bridge: Sendable {
  let exchange: Exchange
  let events: EventTable
  let samples = SampleTable()
  /// Where records of sessions that failed go.
  public let flights = FlightOutlet()

  /// - Parameters:
  ///   - workers: 1–64.
  ///   - wake: tells a worker that something came for it.
  ///   - eventsReady: tells the control plane that `drainEvents` has something; called on a worker's thread, and
  ///     not again before it was drained.
  public init(
    workers: Int, wake: @escaping @Sendable (Int) -> Void, eventsReady: @escaping @Sendable () -> Void
  ) {
    precondition((1...64).contains(workers))
    exchange = Exchange(count: workers, wake: wake)
    events = EventTable(wake: eventsReady)
  }

  public var workerCount: Int { exchange.count }

  /// One way: what comes of it is an event. Commands of the control plane are bounded by the rooms' own limits.
  public func post(_ command: Command) {
    _ = exchange.mailboxes[min(command.peer.home, exchange.count - 1)].post(.command(command), force: true)
  }

  /// What happened since the last call, each peer once, in the order of its first event.
  public func drainEvents() -> [PeerEvents] { events.drain() }

  /// How loud every track was since the last call, and the last value of every connected peer.
  public func levels() -> [(key: TrackKey, value: TrackLevel)] { samples.tracks }
  public func qualities() -> [(key: PeerKey, value: PeerQuality)] { samples.peers }

  /// Asks a worker for its counters.
  /// - Parameter answer: called on the worker's thread; after its end on the thread that stopped it, with empty counters.
  /// - Returns: false when the worker has been stopped: `answer` is not called.
  @discardableResult
  public func report(worker: Int, _ answer: @escaping @Sendable (WorkerReport) -> Void) -> Bool {
    exchange.mailboxes[worker].post(.report(answer), force: true)
  }

  /// Asks a worker why subscribers get what they get.
  /// - Parameter answer: called on the worker's thread; after its end on the thread that stopped it, with nil.
  /// - Returns: false when the worker has been stopped: `answer` is not called.
  func explain(
    worker: Int, _ question: MediaQuestion, _ answer: @escaping @Sendable (WorkerExplanation?) -> Void
  ) -> Bool {
    exchange.mailboxes[worker].post(.explain(question, answer: answer), force: true)
  }

  /// Asks for what a peer's flight recorder has, at its home, which passes it on.
  /// - Returns: false when the worker has been stopped: `answer` is not called.
  func recording(
    of peer: PeerKey, home: Int, _ answer: @escaping @Sendable (FlightRecording?) -> Void
  ) -> Bool {
    exchange.mailboxes[home].post(.recording(peer, answer: answer), force: true)
  }

  /// The worker is gone: who waits for its answer gets an empty one, commands are refused.
  func close(worker: Int) {
    for message in exchange.mailboxes[worker].close() {
      switch message {
      case .report(let answer):
        var report = WorkerReport()
        report.worker = worker
        answer(report)
      case .explain(_, let answer): answer(nil)
      case .recording(_, let answer): answer(nil)
      case .command, .routing, .track: break
      }
    }
  }
}
