import AccessTokens
import CallDesk
import Calls
import Foundation
import HTTPServer
import KeyDirectory
import Logging
import Model
import Push
import Rooms
import Storage
import Synchronization
import TestStores
import Testing

@testable import Gateway

/// A house with calls, on a store in memory and a clock that the test moves.
final class CallHouse: Sendable {
  let house: House
  let desk: CallDesk
  let rooms: CallRooms
  let store: Store
  let clock: Clock
  private let running: [Task<Void, Never>]

  final class Clock: Sendable {
    private let moved = Mutex<Int64>(0)
    private let origin = ContinuousClock.now
    var now: CallTime {
      let span = (ContinuousClock.now - origin).components
      let past = span.seconds * 1_000 + span.attoseconds / 1_000_000_000_000_000 + moved.withLock { $0 }
      return CallTime(wall: Int64(House.now) * 1_000 + moved.withLock { $0 }, steady: past)
    }
    func move(_ span: Int64) { moved.withLock { $0 += span } }
  }

  /// - Parameters:
  ///   - location: where its store is.
  ///   - kind: of the store; nil: it is at `location`.
  ///   - known: the store of a house before this one.
  ///   - authorizer: nil: everyone may call everyone.
  ///   - services: nil: nothing is pushed.
  ///   - outlet: what carries out what was decided, in the place of the rooms, which it passes it on to.
  ///   - wall: what the doors take for the time; nil: the real one.
  ///   - before: happens in the house before its calls go on.
  ///   - adjust: changes what pushes say.
  init(
    _ terms: CallDeskTerms = CallDeskTerms(), at location: StoreLocation = .memory, on kind: StoreKind? = nil,
    after known: Store? = nil, services: PushDesk.Services? = nil, isDirectoryOpen: Bool = false,
    authorizer: CallAuthorizer? = nil, wall: WallClock? = nil,
    outlet: @escaping (CallRooms) -> any CallOutlet = { $0 },
    before: (House) async throws -> Void = { _ in },
    adjust: (inout CallPushes.Terms) -> Void = { _ in }
  ) async throws {
    let clock = Clock()
    let log = Log(level: .error) { _ in }
    let opened = try await known == nil ? Store.open(kind?.makeLocation() ?? location, log: log) : nil
    let store = try #require(known ?? opened)
    let keys = try await KeyDirectory.open(in: store)
    let made = Mutex<(desk: CallDesk, rooms: CallRooms)?>(nil)
    var pushed: CallPushes?
    if let services {
      var terms = CallPushes.Terms(keys: ["APIkey": House.secret], now: { House.now })
      terms.url = "https://media.example"
      adjust(&terms)
      pushed = CallPushes(
        to: services, terms: terms,
        clocks: PushClocks(
          wall: { WallTime(milliseconds: clock.now.wall) },
          instant: { Instant(nanoseconds: clock.now.steady * 1_000_000) }), log: log)
    }
    let pushes = pushed
    let maker = CallMaker { directory in
      let rooms = CallRooms(rooms: directory, pushes: pushes)
      let desk = CallDesk(
        store: store, keys: keys, terms: terms, outlet: outlet(rooms), log: log,
        random: { (UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max)) }, clock: { clock.now })
      made.withLock { $0 = (desk, rooms) }
      return (desk, rooms)
    }
    let built = try House(calls: maker) {
      $0.isDirectoryOpen = isDirectoryOpen
      $0.authorizer = authorizer
      if let wall { $0.now = { wall.now } }
    }
    let calls = try #require(made.withLock { $0 })
    (house, desk, rooms, self.store, self.clock) = (built, calls.desk, calls.rooms, store, clock)
    try await before(built)
    await calls.rooms.begin(calls.desk, try await calls.desk.recover())
    running = [
      Task { [desk = calls.desk] in await desk.run() }, Task { [rooms = calls.rooms] in await rooms.run() },
      Task { [desk = calls.desk] in await pushes?.run(desk) },
    ]
  }

  deinit { for task in running { task.cancel() } }

  /// What was said in rooms is known to be stored.
  func tidy() async { await rooms.tidy() }

  /// As a process that ends; its store stays.
  func stop() async {
    for task in running { task.cancel() }
    for task in running { await task.value }
  }

  /// A token of a person.
  static func token(_ person: String) -> String { House.token(person) }

  static func token(_ person: String, name: String) -> String {
    AccessToken(
      apiKey: "APIkey", identity: person, expires: House.now + 600, issuedAt: House.now, name: name,
      grants: Grants()
    ).signed(secret: House.secret)
  }

  func ask(
    _ method: HTTPMethod, _ path: String, _ body: String = "", by person: String,
    headers: [(String, String)] = []
  ) async -> House.Answer {
    await house.ask(method, path, body, token: Self.token(person), headers: headers)
  }

  /// - Returns: the call's id, and what starting it was answered.
  func start(
    _ person: String, _ others: String..., id: String = UUID().uuidString.lowercased(), more: String = ""
  ) async -> (id: String, answer: House.Answer) {
    let list = others.map { "\"\($0)\"" }.joined(separator: ",")
    let body = #"{"id":"\#(id)","recipients":[\#(list)],"media":"audio","deviceId":"\#(person)1"\#(more)}"#
    return (id, await ask(.post, "/v1/calls", body, by: person))
  }

  func join(_ id: String, _ person: String, device: String? = nil) async -> House.Answer {
    await ask(.post, "/v1/calls/\(id)/join", #"{"deviceId":"\#(device ?? person + "1")"}"#, by: person)
  }
}
