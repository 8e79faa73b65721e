import Calls
import Foundation
import KeyDirectory
import Logging
import Storage
import Synchronization
import TestStores
import Testing

@testable import CallDesk

/// A desk on a store of its own, with a clock that the test moves, and what was carried out.
final class TestDesk: Sendable {
  let kind: StoreKind
  let store: Store
  let directory: KeyDirectory
  let desk: CallDesk
  let outlet = Outlet()
  let clock: Clock

  /// What was to be done.
  final class Outlet: CallOutlet {
    private let done = Mutex<[Aftermath]>([])
    /// Which devices read events.
    let reading = Mutex<[PersonID: EventReaders]>([:])
    func perform(_ aftermath: Aftermath) { done.withLock { $0.append(aftermath) } }
    func readers(of person: PersonID) -> EventReaders { reading.withLock { $0[person] ?? EventReaders() } }
    var all: [Aftermath] { done.withLock { $0 } }
    var rings: [Aftermath.Ring] { all.flatMap(\.rings) }
    var ringsEnded: [Aftermath.RingEnded] { all.flatMap(\.ringsEnded) }
    var closes: [Aftermath.Close] { all.flatMap(\.closes) }
    var steps: [Aftermath.Step.Kind] { all.flatMap(\.steps).map(\.kind) }
  }

  final class Clock: Sendable {
    private let milliseconds: Mutex<CallTime>
    init(_ time: CallTime) { milliseconds = Mutex(time) }
    var now: CallTime { milliseconds.withLock { $0 } }
    func move(_ span: Int64) {
      milliseconds.withLock { time in
        time.wall += span
        time.steady += span
      }
    }
    /// The time of day alone is another.
    func jump(_ span: Int64) { milliseconds.withLock { $0.wall += span } }
  }

  private init(
    _ kind: StoreKind, _ store: Store, _ directory: KeyDirectory, _ terms: CallDeskTerms, _ clock: Clock,
    log: Log = Log(level: .warning) { print($0) }
  ) {
    (self.kind, self.store, self.directory, self.clock) = (kind, store, directory, clock)
    desk = CallDesk(
      store: store, keys: directory, terms: terms, outlet: outlet, log: log,
      random: { (UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max)) }, clock: { clock.now })
  }

  /// - Parameters:
  ///   - location: nil: an empty store of that kind.
  ///   - log: what the desk and its store write; nil: what is worth a look is printed.
  static func with(
    _ kind: StoreKind, _ terms: CallDeskTerms = CallDeskTerms(), at location: StoreLocation? = nil,
    log: Log? = nil, _ body: (TestDesk) async throws -> Void
  ) async throws {
    let location = try location ?? kind.makeLocation()
    let store = try await Store.open(location, log: log ?? Log(level: .error) { _ in })
    let test = TestDesk(
      kind, store, try await KeyDirectory.open(in: store), terms,
      Clock(CallTime(wall: 1_790_000_000_000, steady: 5_000)),
      log: log ?? Log(level: .warning) { print($0) })
    do { try await body(test) } catch {
      await store.close()
      throw error
    }
    await store.close()
  }

  /// The same store for another process, so much later.
  func again(
    after span: Int64, _ terms: CallDeskTerms = CallDeskTerms(), _ body: (TestDesk) async throws -> Void
  ) async throws {
    let later = CallTime(wall: clock.now.wall + span, steady: 7)
    let test = TestDesk(kind, store, directory, terms, Clock(later))
    try await body(test)
  }

  /// The same store for another process, a second later.
  func restarted(_ terms: CallDeskTerms) -> TestDesk {
    TestDesk(kind, store, directory, terms, Clock(CallTime(wall: clock.now.wall + 1_000, steady: 7)))
  }

  // MARK: - What tests ask

  static func caller(_ name: String, _ device: String? = nil) -> Caller {
    Caller(
      PersonID(name), name: name.capitalized, device: DeviceID(device ?? "\(name)1"), apiKey: "devkey")
  }

  static func uuid() -> CallUUID {
    CallUUID(random: (UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max)))
  }

  func start(
    _ caller: String, _ others: String..., id: CallUUID = uuid(), media: CallMedia = .audio
  ) async throws -> CallEntry {
    try await desk.start(
      CallDesk.Start(id: id, recipients: others.map { PersonID($0) }, media: media), by: Self.caller(caller))
  }

  /// The media of people stands, or doesn't.
  func media(_ stands: Bool, _ entries: (String, CallEntry)...) async {
    for (person, entry) in entries {
      desk.media(
        stands ? .stands : .lost, of: PersonID(person), session: entry.session, in: entry.call.state.id)
    }
    await desk.writePresence()
  }

  /// Two who talk.
  func talk(_ caller: String, _ other: String) async throws -> (CallEntry, CallEntry) {
    let mine = try await start(caller, other)
    let theirs = try await desk.join(mine.call.state.id, by: Self.caller(other))
    await media(true, (caller, mine), (other, theirs))
    return (mine, theirs)
  }

  func call(_ entry: CallEntry, for person: String) async throws -> CallState {
    try await desk.call(entry.call.state.id, for: PersonID(person)).state
  }

  /// What a person has heard, by kinds.
  func heard(_ person: String, after number: Int64 = 0) async throws -> [PersonEvent] {
    try await desk.events(of: PersonID(person), after: number, limit: 200).events
  }

  /// All that a person has heard.
  func heardAll(_ person: String) async throws -> [PersonEvent] {
    var all: [PersonEvent] = []
    while true {
      let page = try await heard(person, after: Int64(all.count))
      if page.isEmpty { return all }
      all += page
    }
  }

  func kinds(_ person: String, after number: Int64 = 0) async throws -> [PersonEvent.Kind] {
    try await heard(person, after: number).map(\.kind)
  }

  /// So much time passes.
  func pass(_ span: Int64) async {
    clock.move(span)
    _ = await desk.advance()
  }
}
