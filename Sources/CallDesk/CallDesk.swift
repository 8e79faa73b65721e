public import Calls
internal import Crypto
public import KeyDirectory
public import Logging
public import Storage
internal import Synchronization

/// Calls that ring, are answered and remembered: each request is one transaction of the store, and answered once that is on the disk.
///
/// How calls stand is in the store alone. What is decided over several of them, such as who is busy, is so from what the same
/// transaction reads, and nothing in memory has to be put right where the database fails. In memory are rates, media that has come
/// and gone and isn't written yet, and how far people have heard.
public final class CallDesk: Sendable {
  let store: Store
  /// nil: no call can be encrypted end to end.
  let directory: KeyDirectory?
  let terms: CallDeskTerms
  let outlet: OrderedOutlet
  let log: Log
  /// Read on the store's thread, so that decisions are in the order of their times.
  let clock: @Sendable () -> CallTime
  private let random: @Sendable () -> (high: UInt64, low: UInt64)
  let rates: Mutex<CallRates>
  let presence = PendingPresence()
  let eventRates = EventRates(span: 1_000)
  let sessionRates = EventRates(span: 60_000)
  let keyRates: PersonRates
  let roundRates: PersonRates
  /// How often the app's own server is asked who may call whom.
  let askRates: PersonRates
  /// For each person, the number of the last event that a client has received.
  let heard = HeardEvents()

  /// - Parameters:
  ///   - keys: which keys devices have, in the same store; nil: no call can be encrypted end to end.
  ///   - outlet: what carries out what was decided.
  ///   - random: 128 bits that can't be guessed.
  public init(
    store: Store, keys: KeyDirectory? = nil, terms: CallDeskTerms = CallDeskTerms(), outlet: any CallOutlet,
    log: Log,
    random: @escaping @Sendable () -> (high: UInt64, low: UInt64), clock: @escaping @Sendable () -> CallTime
  ) {
    self.store = store
    directory = keys
    self.terms = terms
    self.outlet = OrderedOutlet(outlet)
    self.log = log
    self.random = random
    self.clock = clock
    rates = Mutex(CallRates(terms: terms.rates))
    keyRates = PersonRates([
      PersonRates.Bound(most: terms.keys.entriesPerMinute, span: 60_000),
      PersonRates.Bound(most: terms.keys.entriesPerHour, span: 3_600_000),
    ])
    askRates = PersonRates([PersonRates.Bound(most: terms.rates.starts, span: 60_000)])
    roundRates = PersonRates([PersonRates.Bound(most: terms.keys.changesPerMinute, span: 60_000)])
  }

  /// By the clock of calls.
  public var now: CallTime { clock() }

  /// Media has come or gone that isn't written down yet.
  public var hasUnwrittenPresence: Bool { !presence.isEmpty }

  func uuid() -> CallUUID { CallUUID(random: random()) }

  var callTerms: CallTerms { terms.book.call }

  // MARK: - Transactions

  /// Decides something and writes it down. What `body` answers is answered once it is on the disk, a problem too: time may have
  /// passed all the same.
  func decide<Value: Sendable>(
    bytes: Int = 4_096,
    _ body:
      @escaping @Sendable (borrowing Transaction, inout Aftermath, CallTime) throws(StoreError) -> Result<
        Value, CallProblem
      >
  ) async throws(CallProblem) -> Value {
    let places = DecisionPlaces(outlet)
    let answer: Result<Value, CallProblem>
    do throws(StoreError) {
      let (result, aftermath) = try await store.write(bytes: bytes) {
        [clock] transaction throws(StoreError) -> (Result<Value, CallProblem>, Aftermath) in
        places.take()
        var aftermath = Aftermath()
        let result = try body(transaction, &aftermath, clock())
        return (result, aftermath)
      }
      places.settle(aftermath)
      answer = result
    } catch {
      places.settle(nil)
      throw unavailable(error)
    }
    return try answer.get()
  }

  func read<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing Transaction) throws(StoreError) -> Result<Value, CallProblem>
  ) async throws(CallProblem) -> Value {
    let answer: Result<Value, CallProblem>
    do throws(StoreError) { answer = try await store.read(body) } catch {
      throw unavailable(error)
    }
    return try answer.get()
  }

  /// The store says itself, once, that it can't be reached; what it refuses is a mistake of ours.
  private func unavailable(_ error: StoreError) -> CallProblem {
    if case .refused = error { log.error("calls: the database refuses a statement", ["reason": "\(error)"]) }
    return .storeUnavailable
  }
}
