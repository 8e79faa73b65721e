internal import AccessTokens
internal import CallDesk
internal import Calls
internal import FoundationEssentials
internal import Gateway
internal import Glibc
internal import HTTPServer
internal import KeyDirectory
internal import Logging
internal import Model
internal import Rooms
internal import Storage
internal import Synchronization

/// A server as it is in a process, from its doors to its store, for those who call each other: what decides calls, the log of keys, the
/// rooms that calls have, and the doors over HTTP. Media doesn't come here: what rooms would say of it the conference says.
final class CallServer {
  static let apiKey = "simulation"
  static let secret = "a secret that is long enough to be one"

  enum Failure: Error { case noFolder }

  let turns: CallTurns
  private let parts: Parts
  private let charges: CallCharges
  /// Where its store is; nil: in memory.
  private let folder: String?

  private struct Parts {
    let desk: CallDesk
    let rooms: CallRooms
    let gateway: Gateway
    let running: Task<Void, Never>
  }

  /// - Parameter isOnDisk: its store is in a folder of its own, which goes with it.
  init(seed: UInt64, clock: CallClock, epoch: Epoch, isOnDisk: Bool) throws {
    var random = RandomSource.seeded(state: seed &* 0x9E37_79B9 ^ 0x5CA1_15)
    let folder = isOnDisk ? try Self.makeFolder() : nil
    let (store, storeTurns) = Store.inTurns(
      folder.map { .directory($0) } ?? .memory, log: Log(level: .error) { _ in })
    let turns = try CallTurns(clock, epoch: epoch, store: storeTurns, random: &random)
    let charges = CallCharges()
    (self.folder, self.turns, self.charges) = (folder, turns, charges)
    turns.begin()
    do { parts = try Self.build(turns, store, charges, SharedRandom(random)) } catch {
      turns.end()
      throw error
    }
  }

  private static func build(
    _ turns: CallTurns, _ store: Store, _ charges: CallCharges, _ random: SharedRandom
  ) throws -> Parts {
    let clock = turns.clock
    let directory = turns.control.directory
    let keys = try turns.wait { try await KeyDirectory.open(in: store) }
    let rooms = CallRooms(rooms: directory)
    let desk = CallDesk(
      store: store, keys: keys, outlet: rooms, log: Log(level: .error) { _ in }, random: { random.pair() },
      clock: { clock.call })
    var configuration = GatewayConfiguration(keys: [apiKey: secret], development: nil) { clock.seconds }
    configuration.instant = { clock.now }
    let gateway = Gateway(
      configuration: configuration, rooms: directory, administered: directory,
      calls: (desk: desk, rooms: rooms), intakes: Intakes(noting: { charges.note($0) }))
    try turns.wait { await rooms.begin(desk, try await desk.recover()) }
    return Parts(desk: desk, rooms: rooms, gateway: gateway, running: Task { await rooms.run() })
  }

  private static func makeFolder() throws -> String {
    // `mkdtemp` puts its own letters in the place of these.
    var template = Array("/tmp/roost-calls-XXXXXX".utf8CString)
    let made = template.withUnsafeMutableBufferPointer { buffer -> String? in
      guard let base = buffer.baseAddress, let path = mkdtemp(base) else { return nil }
      return String(cString: path)
    }
    guard let made else { throw Failure.noFolder }
    return made
  }

  /// Nothing of it runs on, and nothing of it is left.
  func end() {
    parts.running.cancel()
    turns.end()
    if let folder { try? FileManager.default.removeItem(atPath: folder) }
  }

  // MARK: - What is asked

  /// Asks all of it at once, and lets the server run until it has answered.
  /// - Returns: nil in the place of what isn't answered.
  func ask(_ requests: [HTTPRequest]) -> [HTTPResponse?] {
    let gateway = parts.gateway
    let answers = requests.map { request in
      let later = CallTurns.Later<HTTPResponse>()
      Task { later.set(await gateway.respond(to: request)) }
      return later
    }
    _ = turns.settle()
    return answers.map(\.value)
  }

  /// What was to be paid for requests since it was asked last, in order.
  func takeCharges() -> [Intakes.Charge] { charges.take { !CallReadings.hasCharge($0) } }

  /// What was charged for what was read of people's events since it was asked last, in order.
  func takeReadings() -> [Intakes.Charge] { charges.take { CallReadings.hasCharge($0) } }

  /// Lets time pass up to now.
  /// - Returns: false if there is no end to it.
  func pass() -> Bool {
    let desk = parts.desk
    turns.control.advance(to: turns.clock.now)
    return turns.perform { await desk.turn() } != nil
  }

  /// Forgets what is old.
  func tidy() {
    let desk = parts.desk
    _ = turns.perform { await desk.tidy() }
  }

  // MARK: - What is said of rooms, and how calls stand

  func say(_ presence: MediaPresence, of person: String, stay: String, in room: String) {
    parts.rooms.media(of: person, stay: stay, in: room, presence)
  }

  /// Takes a person out of a call that has no room.
  func remove(_ person: String, from call: String) {
    guard let id = CallUUID(call) else { return }
    let desk = parts.desk
    _ = turns.perform { try? await desk.remove(PersonID(person), from: id) }
  }

  /// - Returns: nil: there is no such call.
  func standing(of call: String) -> CallStanding? {
    guard let id = CallUUID(call) else { return nil }
    let desk = parts.desk
    let found: CallDocument?? = turns.perform { try? await desk.call(id) }
    guard let found, let document = found else { return nil }
    return CallStanding(document)
  }

  /// Names of rooms that stand; nil: it isn't known.
  func roomNames() -> [String]? {
    let directory = turns.control.directory
    return turns.perform { await directory.rooms(after: nil, limit: 100).map(\.info.name) }
  }
}

/// Random numbers that several take from.
private final class SharedRandom: Sendable {
  private let source: Mutex<RandomSource>

  init(_ random: RandomSource) { source = Mutex(random) }

  func pair() -> (high: UInt64, low: UInt64) {
    source.withLock { source in (high: source.next(), low: source.next()) }
  }
}

/// What was to be paid.
private final class CallCharges: Sendable {
  private let charges = Mutex<[Intakes.Charge]>([])

  func note(_ charge: Intakes.Charge) { charges.withLock { $0.append(charge) } }

  func take(where isMeant: (Intakes.Charge) -> Bool) -> [Intakes.Charge] {
    charges.withLock { charges in
      let taken = charges.filter(isMeant)
      charges.removeAll(where: isMeant)
      return taken
    }
  }
}
