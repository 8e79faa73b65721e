import AccessTokens
import CallDesk
import Calls
import Gateway
import KeyDirectory
import Logging
import Model
import Rooms
import Storage
import Synchronization

/// A server with calls, on a store in memory and without sockets; its time passes where it is let.
final class CallScene: Sendable {
  static let people = ["ada", "bob", "eve"]

  let gateway: Gateway
  let desk: CallDesk
  private let directory: RoomDirectory
  private let rooms: CallRooms
  private let clock: SceneClock
  private let bill: Bill

  /// - Parameter adjust: changes how calls are configured.
  /// - Returns: nil: the store or the log of keys can't be made.
  static func open(_ adjust: (inout CallDeskTerms) -> Void = { _ in }) async -> CallScene? {
    guard let house = RequestHouse.shared else { return nil }
    var terms = CallDeskTerms()
    adjust(&terms)
    let log = Log(level: .error) { _ in }
    guard let store = try? await Store.open(.memory, log: log),
      let keys = try? await KeyDirectory.open(in: store)
    else { return nil }
    let scene = CallScene(house, store, keys, terms, log)
    guard let open = try? await scene.desk.recover() else { return nil }
    await scene.rooms.begin(scene.desk, open)
    return scene
  }

  private init(
    _ house: RequestHouse, _ store: Store, _ keys: KeyDirectory, _ terms: CallDeskTerms, _ log: Log
  ) {
    let clock = SceneClock()
    let directory = house.rooms()
    let rooms = CallRooms(rooms: directory)
    // The same ids each time.
    let serial = Atomic<UInt64>(1)
    let desk = CallDesk(
      store: store, keys: keys, terms: terms, outlet: rooms, log: log,
      random: { (0, serial.wrappingAdd(1, ordering: .relaxed).newValue) }, clock: { clock.now })
    var configuration = GatewayConfiguration(keys: RequestHouse.keys, development: nil) { RequestHouse.now }
    configuration.instant = { Instant(nanoseconds: clock.now.steady * 1_000_000) }
    configuration.isDirectoryOpen = true
    configuration.publicURL = "https://media.example"
    let bill = Bill()
    gateway = Gateway(
      configuration: configuration, rooms: directory, administered: directory, calls: (desk, rooms),
      intakes: Intakes(noting: { bill.note($0) }))
    (self.desk, self.directory, self.rooms, self.clock, self.bill) = (desk, directory, rooms, clock, bill)
  }

  private final class SceneClock: Sendable {
    private let past = Mutex<Int64>(60_000)
    var now: CallTime {
      let past = past.withLock { $0 }
      return CallTime(wall: Int64(RequestHouse.now) * 1_000 + past, steady: past)
    }
    func move(_ span: Int64) { past.withLock { $0 += span } }
  }

  /// What those who ask were charged since it was asked last, in bytes.
  func takeCharged() -> Int { bill.take() }

  private final class Bill: Sendable {
    private let bytes = Atomic<Int>(0)

    /// What is read is charged to a device, and a part of it to the person as well: it counts once.
    func note(_ charge: Intakes.Charge) {
      guard charge.isPaid, charge.parts == 1 else { return }
      bytes.wrappingAdd(charge.bytes, ordering: .relaxed)
    }
    func take() -> Int { bytes.exchange(0, ordering: .relaxed) }
  }

  /// Lets so many milliseconds pass, of which no call has to hear.
  func rest(_ span: Int64) { clock.move(span) }

  /// A token of a person: it names no room.
  static func token(_ person: String, _ adjust: (inout AccessToken) -> Void = { _ in }) -> String {
    var token = AccessToken(
      apiKey: "key", identity: person, expires: RequestHouse.now + 600, issuedAt: RequestHouse.now,
      name: person, grants: Grants())
    adjust(&token)
    return token.signed(secret: RequestHouse.keys["key"] ?? "")
  }

  func close() async {
    for room in await directory.rooms(after: nil, limit: 100) {
      try? await directory.close(room: room.info.name)
    }
  }
}
