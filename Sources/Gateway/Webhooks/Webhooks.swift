internal import Crypto
internal import HTTPClient
public import Logging
public import Model
public import Rooms

/// Carries every event to the receivers of the configuration, each by a queue of its own: one that is stuck delays no other.
public final class Webhooks: Sendable {
  /// A receiver, and what signs what it gets.
  public struct Target: Sendable {
    public var url: String
    /// The API key and its secret.
    public var key: String
    public var secret: String

    /// What the store knows it by: nothing of a URL, which may have secrets in it, can be read there.
    public var name: String {
      SHA256.digest(Array(url.utf8)).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    public init(url: String, key: String, secret: String) {
      self.url = url
      self.key = key
      self.secret = secret
    }
  }

  /// What became of the notices of one receiver, and what waits.
  public struct Report: Equatable, Sendable {
    public var arrived: UInt64 = 0
    /// Tries that failed; a notice may have many.
    public var failed: UInt64 = 0
    /// Given up: after a day, because too much was kept, because the receiver doesn't take them.
    public var late: UInt64 = 0
    public var crowdedOut: UInt64 = 0
    public var refused: UInt64 = 0
    /// In memory and in the store.
    public var waiting = 0
    /// In memory alone.
    public var waitingBytes = 0
  }

  private let senders: [WebhookSender]
  private let runs: [Task<Void, Never>]
  private let clients: [HTTPClientThread]
  private let ledger: any WebhookLedger

  /// They begin at once.
  /// - Parameters:
  ///   - authorities: path of a PEM file with the certificates that vouch for receivers; nil: those of the system.
  ///   - seconds: the time of day, as in tokens.
  ///   - wall: the time of day, as events have it.
  ///   - instant: a clock that is never stepped.
  public convenience init(
    to targets: [Target], of events: EventLog, deliveries: StoredDeliveries, authorities: String?, log: Log,
    seconds: @escaping @Sendable () -> Int, wall: @escaping @Sendable () -> WallTime,
    instant: @escaping @Sendable () -> Instant
  ) {
    self.init(
      to: targets, of: events, ledger: deliveries, authorities: authorities, log: log,
      clocks: WebhookSender.Clocks(seconds: seconds, wall: wall, instant: instant))
  }

  /// - Parameter ledger: what keeps events and how far each receiver has come.
  init(
    to targets: [Target], of events: EventLog, ledger: any WebhookLedger, authorities: String? = nil,
    log: Log,
    clocks: WebhookSender.Clocks, limits: WebhookQueue.Limits = WebhookQueue.Limits()
  ) {
    // Whatever holds up a thread, such as a name that isn't resolved, holds up one receiver.
    let clients = targets.map { _ in
      HTTPClientThread(
        trust: authorities.map { .file($0) } ?? .system, connectionsPerHost: limits.atOnce * 2)
    }
    self.clients = clients
    self.ledger = ledger
    let senders = zip(targets, clients).map { target, client in
      WebhookSender(
        target, of: events, ledger: ledger, client: client, clocks: clocks, log: log, limits: limits)
    }
    self.senders = senders
    runs =
      senders.map { sender in Task { await sender.run() } } + [Task { await ledger.tidy(by: clocks.wall) }]
  }

  /// In the order of the receivers.
  public func reports() async -> [Report] {
    var reports: [Report] = []
    for sender in senders { reports.append(await sender.report) }
    return reports
  }

  /// What the store keeps for receivers: events behind the oldest that one has still to hear, and about their bytes.
  public var held: (events: Int, bytes: Int) { ledger.held }

  /// For what was settled to be written.
  private static let patience = Duration.seconds(1)

  /// Returns once everything has arrived that happened by now, or the time is over; nothing more is sent then. What was settled is
  /// written before, as far as another second allows it.
  public func finish(within patience: Duration) async {
    await Self.within(patience) { [senders] in
      while !Task.isCancelled {
        var isDone = true
        for sender in senders where await !sender.isDone { isDone = false }
        if isDone { return }
        try? await Task.sleep(for: .milliseconds(20))
      }
    }
    for run in runs { run.cancel() }
    for client in clients { client.stop() }
    await Self.within(Self.patience) { [ledger] in await ledger.flush() }
  }

  /// Returns once that is done, or the time is over: then it goes on by itself, cancelled.
  private static func within(_ patience: Duration, _ body: @escaping @Sendable () async -> Void) async {
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    let work = Task {
      await body()
      end.finish()
    }
    let alarm = Task {
      try? await Task.sleep(for: patience)
      end.finish()
    }
    for await _ in ends {}
    alarm.cancel()
    work.cancel()
  }
}
