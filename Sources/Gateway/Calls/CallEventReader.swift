internal import AccessTokens
internal import CallDesk
internal import Calls
internal import HTTPServer
internal import Model
internal import Synchronization

/// One who reads what a person hears of calls, as it happens. The events are in the store: a reader asks for the next ones while its
/// client takes those before, and one that falls behind costs a number and no more.
final class CallEventReader: HTTPBodySource {
  struct Terms: Sendable {
    let person: PersonID
    /// nil: events for one device alone are given too.
    let device: DeviceID?
    let text: CallEventText
    /// From when on its token holds no longer, in seconds since 1970.
    let expires: Int
    /// Seconds since 1970.
    let wall: @Sendable () -> Int
    /// Charges the device for so many bytes that were read, and says what is owed.
    let charge: @Sendable (Int) -> ReadingDebt
    /// Called as the end of a ring is given out.
    let gaveEnd: @Sendable (CallUUID) -> Void
  }

  private struct State {
    /// nil: the server hasn't asked it for anything yet.
    var place: CallFeed.Place?
    /// nil: it begins with how everything stands.
    var position: Int64?
    var isReset = false
    var items: [CallEventText.Item] = []
    var isAsking = false
    /// Up to which word of the feed it has asked.
    var asked: UInt64 = 0
    var hasBegun = false
    var nextComment = Instant.never
    var nextTry = Instant(nanoseconds: .min)
    var pace = ReadingPace()
    var end: EventStreamEnd?
    var isOver = false
  }

  /// Events that are read at once.
  private static let batch = 32
  /// To the next try, where the store can't be read.
  private static let retry = Duration.seconds(1)

  private let terms: Terms
  private let feed: CallFeed
  private let state: Mutex<State>

  /// - Parameters:
  ///   - position: the last event that is known; nil: none.
  ///   - feed: in which its device reads, from the first piece on.
  init(_ terms: Terms, after position: Int64?, feed: CallFeed) {
    self.terms = terms
    self.feed = feed
    state = Mutex(State(position: position))
  }

  deinit {
    if let place = state.withLock({ $0.place }) { feed.end(place) }
  }

  var signal: HTTPBodySignal { feed.signal }

  func mustEnd(now: Instant) -> Bool {
    if terms.wall() >= terms.expires { return true }
    guard let place = state.withLock({ $0.place }) else { return false }
    return !feed.has(place)
  }

  /// The server asks for pieces of a stream that it has taken, and of no other: one that it refuses, or whose client has gone by then, ends
  /// none that is read.
  private func begun() -> CallFeed.Place {
    if let place = state.withLock({ $0.place }) { return place }
    let place = feed.begin(terms.device, at: terms.text.desk.now.steady)
    state.withLock { $0.place = place }
    return place
  }

  func produce(
    into bytes: inout [UInt8], enough: Int, now: Instant, ending: HTTPBodyEnding?
  ) -> HTTPBodyStep {
    let full = bytes.count + enough
    let place = begun()
    let (step, question) = state.withLock { state -> (HTTPBodyStep, Int64??) in
      if state.isOver { return (.end, nil) }
      if terms.wall() >= terms.expires { state.end = .tokenExpired }
      if ending == .stalled { state.end = .tooSlow }
      if !feed.has(place) { state.end = .replaced }
      if state.end == nil {
        begin(&state, into: &bytes, now)
        while bytes.count < full, let item = state.items.first {
          EventStreamWriter.write(id: String(item.id), type: item.type, data: item.data, to: &bytes)
          state.items.removeFirst()
          terms.text.desk.noteHeard(item.id, by: terms.person, terms.device)
          if let ring = item.endedRing { terms.gaveEnd(ring) }
        }
        if !state.items.isEmpty { return (.more, nil) }
        if ending == .shutdown { state.end = .serverShutdown }
      }
      if let end = state.end {
        EventStreamWriter.write(type: "end", data: end.json.utf8, to: &bytes)
        state.isOver = true
        return (.end, nil)
      }
      let word = feed.count
      let asks = !state.isAsking && state.asked < word && now >= state.nextTry
      if asks { (state.isAsking, state.asked) = (true, word) }
      let wake = state.asked < word ? min(state.nextTry, state.nextComment) : state.nextComment
      return (.wait(until: min(wake, expiry(now))), asks ? .some(state.position) : nil)
    }
    if let question { ask(after: question, now: now) }
    return step
  }

  private func begin(_ state: inout State, into bytes: inout [UInt8], _ now: Instant) {
    if !state.hasBegun {
      state.hasBegun = true
      EventStreamWriter.write(comment: "roost", to: &bytes)
      // Another stream of the device's may have read more than it could pay.
      state.nextTry = state.pace.next(owing: terms.charge(0), isMore: true, now: now)
      state.nextComment = now + EventStream.beat
    } else if now >= state.nextComment {
      EventStreamWriter.write(comment: "", to: &bytes)
      state.nextComment = now + EventStream.beat
    }
  }

  private func expiry(_ now: Instant) -> Instant {
    now + .seconds(min(max(terms.expires - terms.wall(), 1), 86_400))
  }

  /// Reads on, beside the server's thread, which looks again then.
  private func ask(after position: Int64?, now: Instant) {
    Task { [self] in
      let found = await read(after: position)
      let debt = found.map { terms.charge($0.cost) } ?? ReadingDebt()
      state.withLock { state in
        state.isAsking = false
        guard let found else {
          // It is asked again a little later.
          state.asked = 0
          state.nextTry = now + Self.retry
          return
        }
        state.items += found.items
        state.position = found.position
        state.nextTry = state.pace.next(owing: debt, isMore: found.isMore, now: now)
        // There may be more than was read at once.
        if found.isMore { state.asked = 0 }
      }
      feed.signal.raise()
    }
  }

  /// - Parameter cost: in bytes, as a page of them costs.
  private typealias Found = (items: [CallEventText.Item], position: Int64, isMore: Bool, cost: Int)

  /// - Returns: nil: the store can't be read at the moment.
  private func read(after position: Int64?) async -> Found? {
    do throws(CallProblem) {
      guard let position else { return try await start(isReset: false) }
      let page = try await terms.text.desk.events(of: terms.person, after: position, limit: Self.batch)
      if page.isGone { return try await start(isReset: true) }
      // Its client has them, though maybe from a process before this one.
      if position <= page.last {
        terms.text.desk.noteHeard(position, by: terms.person, terms.device)
      }
      let items = try await terms.text.items(page.events, for: terms.person, device: terms.device)
      let cost = Self.cost(of: items, among: page.events.count)
      return (items, page.reached, page.reached < page.last, cost)
    } catch { return nil }
  }

  private func start(isReset: Bool) async throws(CallProblem) -> Found {
    let state = try await terms.text.state(of: terms.person, isReset: isReset)
    return ([state], state.id, true, Self.cost(of: [state], among: 1))
  }

  private static func cost(of items: [CallEventText.Item], among count: Int) -> Int {
    max(items.reduce(0) { $0 + $1.data.count }, count * CallDoor.pricePerItem)
  }
}
