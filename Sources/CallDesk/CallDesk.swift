public import Calls
internal import Crypto
public import KeyDirectory
public import Logging
public import Storage
internal import Synchronization

#if PLANTED_DEFECTS
  internal import Model
#endif

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
  let words = PendingWords()
  let unknown = UnknownDecisions()
  let eventRates = EventRates(span: 1_000)
  let sessionRates = EventRates(span: 60_000)
  let keyRates: PersonRates
  let roundRates: PersonRates
  /// How often the app's own server is asked who may call whom.
  let askRates: PersonRates
  /// How often people change calls and come into them, which all of their people hear.
  let changeRates: PersonRates
  let answerTurns = AnswerTurns()
  /// For each device of a person, the number of the last event that it has received.
  let heard = HeardEvents()
  let unheard = Unheard()
  /// When it was last said that a record can't be read, on the clock that doesn't jump; nil: never.
  private let unreadableSaid = Mutex<Int64?>(nil)

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
    changeRates = PersonRates([PersonRates.Bound(most: terms.changesPerMinute, span: 60_000)])
    roundRates = PersonRates([PersonRates.Bound(most: terms.keys.changesPerMinute, span: 60_000)])
  }

  /// By the clock of calls.
  public var now: CallTime { clock() }

  /// Media has come or gone that isn't written down yet, or who runs a room has done something.
  public var hasUnwrittenPresence: Bool { !words.isEmpty }

  func uuid() -> CallUUID { CallUUID(random: random()) }

  var callTerms: CallTerms { terms.book.call }

  // MARK: - Transactions

  /// Decides something and writes it down. What `body` answers is answered once it is on the disk, a problem too: time may have
  /// passed all the same.
  /// - Parameter request: the client's key for it; nil: it has none.
  func decide<Value: Sendable>(
    bytes: Int = 4_096, under request: KeyedRequest<Value>? = nil,
    _ body:
      @escaping @Sendable (borrowing Transaction, inout Aftermath, CallTime) throws(StoreError) -> Result<
        Value, CallProblem
      >
  ) async throws(CallProblem) -> Value {
    let places = DecisionPlaces(outlet)
    let answer: Result<Value, CallProblem>
    do throws(StoreError) {
      let (result, aftermath) = try await store.write(bytes: bytes) {
        [self] transaction throws(StoreError) -> (Result<Value, CallProblem>, Aftermath) in
        // The try before came to nothing.
        giveBack(places.takeSpent())
        places.take()
        var aftermath = Aftermath()
        defer { places.spend(aftermath.spent) }
        let now = clock()
        let result = try body(transaction, &aftermath, now)
        if let request, case .success(let value) = result {
          try keepAnswer(value, of: request, at: now, transaction)
        }
        places.note(aftermath, at: now)
        return (result, aftermath)
      }
      places.settle(aftermath)
      answer = result
    } catch {
      places.settle(nil)
      // What came to no decision was never to be committed.
      if error.mayBeDone, let decision = places.decision {
        keepUnknown(decision)
      } else {
        giveBack(places.takeSpent())
      }
      throw unavailable(error)
    }
    return try answer.get()
  }

  func giveBack(_ spent: [Spending]) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.spendingKept) { return }
    #endif
    for each in spent {
      switch each {
      case .calls(let count): rates.withLock { $0.giveBack(count) }
      case .changes(let person, let time): changeRates.giveBack(person, at: time)
      case .keys(let person, let time): keyRates.giveBack(person, at: time)
      case .rounds(let person, let time): roundRates.giveBack(person, at: time)
      }
    }
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

  /// The store says itself, once, that it can't be reached; what it refuses is a mistake of ours. A record that can't be read is the
  /// operator's to put right, who hears of it once a minute, however often it is asked for.
  private func unavailable(_ error: StoreError) -> CallProblem {
    switch error {
    case .refused: log.error("calls: the database refuses a statement", ["reason": "\(error)"])
    case .unreadable:
      guard isUnreadableDue(at: clock().steady) else { break }
      log.error(
        "calls: a record in the database can't be read; what asks for it is refused and all else goes on. "
          + "Restore the record from a backup, or delete its row", ["reason": "\(error)"])
    default: break
    }
    return .storeUnavailable
  }

  private func isUnreadableDue(at now: Int64) -> Bool {
    unreadableSaid.withLock { said in
      if let said, now - said < 60_000 { return false }
      said = now
      return true
    }
  }
}
