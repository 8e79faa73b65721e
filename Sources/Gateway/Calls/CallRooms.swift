public import AccessTokens
public import CallDesk
public import Calls
internal import Model
internal import Push
public import Rooms
internal import Synchronization

/// What joins calls and rooms: a call's room admits its people and stands as long as the call, and the call follows whose media is
/// there.
public final class CallRooms: CallOutlet, RoomOverseer {
  /// By which it is seen that a room is a call's: no other may have such a name.
  static let prefix = "call-"

  /// Whether a room's name is one of a call's. Names are compared by their bytes: a mark behind the prefix makes none of it that the
  /// directory, which has names in the order of their bytes, doesn't see.
  static func isCall(_ room: String) -> Bool { room.utf8.starts(with: prefix.utf8) }

  private static let pace = Duration.milliseconds(500)

  let feeds = CallFeeds()
  let sessions = SessionFeeds()
  private let comings = CallComings()
  private let rooms: RoomDirectory
  private let pushes: CallPushes?
  private let desk = Mutex<CallDesk?>(nil)
  private let counted = Mutex(CallCounts())
  /// Steps that are said, and maybe not stored yet.
  private let said = Mutex<[Aftermath.Step]>([])
  private let decided: AsyncStream<Aftermath>
  private let work: AsyncStream<Aftermath>.Continuation

  /// - Parameter pushes: nil: phones aren't woken.
  public init(rooms: RoomDirectory, pushes: CallPushes? = nil) {
    self.rooms = rooms
    self.pushes = pushes
    (decided, work) = AsyncStream.makeStream(of: Aftermath.self)
  }

  /// From now on.
  public func begin(_ desk: CallDesk, _ open: CallDesk.Recovered) async {
    self.desk.withLock { $0 = desk }
    feeds.onReaders { [weak desk] person in desk?.readersChanged(of: person) }
    counted.withLock { $0.open = open.calls }
    rooms.oversee(by: self)
    for room in open.rooms { await make(room) }
    // What the process before has decided and may not have said; in the rooms of calls that are over too, which go then.
    if let steps = try? await desk.unsaidSteps() { await say(steps) }
    await closeRooms(but: Set(open.rooms))
  }

  var counts: CallCounts { counted.withLock { $0 } }

  func pushReports() async -> (reports: [PushReport], lost: UInt64) {
    (await pushes?.reports() ?? [], pushes?.lostCount ?? 0)
  }

  /// No one new is let in.
  var isDraining: Bool { rooms.isDraining }

  func noteEnd(of ring: CallUUID, givenTo device: DeviceID, of person: PersonID) {
    pushes?.noteEnd(of: ring, givenTo: device, of: person)
  }

  /// Rooms of calls that were over before they could be closed.
  private func closeRooms(but open: Set<String>) async {
    var last: String? = Self.prefix
    while let after = last {
      let page = await rooms.rooms(after: after, limit: 100)
      for room in page where Self.isCall(room.info.name) && !open.contains(room.info.name) {
        try? await rooms.close(room: room.info.name)
      }
      last = page.last.flatMap { Self.isCall($0.info.name) ? $0.info.name : nil }
    }
  }

  /// Before its people connect; a call that is over by then has no room.
  func make(_ room: String, of call: CallUUID) async {
    await make(room)
    guard let desk = desk.withLock({ $0 }) else { return }
    if let found = try? await desk.call(call), found.state.isEnded { try? await rooms.close(room: room) }
  }

  func make(_ room: String) async {
    var settings = rooms.defaults
    // The call says who is let in, and when it is over.
    settings.admission = false
    settings.emptyTimeout = 86_400
    settings.departureTimeout = 86_400
    _ = try? await rooms.create(room, settings)
  }

  // MARK: - What was decided

  public func readers(of person: PersonID) -> EventReaders { feeds.readers(of: person) }

  public func perform(_ aftermath: Aftermath) {
    counted.withLock { $0.note(aftermath) }
    feeds.wake(aftermath.listeners)
    sessions.hand(aftermath.sharedEvents)
    pushes?.perform(aftermath, feeds)
    guard !aftermath.steps.isEmpty || !aftermath.closes.isEmpty || !aftermath.revoked.isEmpty else { return }
    work.yield(aftermath)
  }

  /// Does in the rooms what was decided, in the order of the decisions, until its task is cancelled.
  public func run() async {
    for await aftermath in decided {
      for (person, room) in aftermath.revoked {
        if let room { try? await rooms.remove(person.text, from: room) }
      }
      for close in aftermath.closes where close.reason != .callEnded {
        guard let room = close.room else { continue }
        let reason: Model.LeaveReason =
          switch close.reason {
          case .movedElsewhere: .movedElsewhere
          case .removed: .removed
          case .left, .callEnded: .left
          }
        // What is there by another stay has taken its place already, and is not meant.
        await rooms.disconnect(close.person.text, stay: close.stay.text, from: room, reason)
      }
      await say(aftermath.steps)
      for step in aftermath.steps where step.kind == .ended {
        if let room = step.room { try? await rooms.close(room: room) }
      }
    }
  }

  /// Says steps to those who hear of rooms; until that is on the disk the desk remembers them.
  private func say(_ steps: [Aftermath.Step]) async {
    for step in steps {
      if step.kind == .started, let room = step.room { await make(room) }
      guard let kind = RoomEventKind(rawValue: step.kind.rawValue) else { continue }
      await rooms.announce(kind, EventCall(step), in: step.room)
    }
    said.withLock { $0 += steps }
  }

  /// Has the desk forget what was said and is stored, until its task is cancelled.
  public func keepTidy() async {
    while !Task.isCancelled {
      try? await Task.sleep(for: Self.pace)
      await tidy()
    }
  }

  func tidy() async {
    let steps = said.withLock { said in
      defer { said = [] }
      return said
    }
    guard !steps.isEmpty, let desk = desk.withLock({ $0 }) else { return }
    do {
      try await rooms.synced()
      try await desk.forget(steps)
    } catch { said.withLock { $0 = steps + $0 } }
  }

  // MARK: - Who comes in, and whose media is there

  /// Who comes into a call's room, and is none of its people: it runs the room, or records it.
  private static func isBeside(_ grants: Grants) -> Bool { grants.roomAdmin || grants.recorder }

  public func admit(
    _ identity: String, device: String?, to room: String, grants: Grants
  ) async throws(JoinError) -> String? {
    guard let desk = desk(of: room) else { return nil }
    do throws(CallProblem) {
      if Self.isBeside(grants) {
        try await desk.requireRoom(room)
        return nil
      }
      let (person, device) = (PersonID(identity), device.map { DeviceID($0) })
      if let stay = try await desk.requireConnect(person, device: device, inRoom: room) { return stay.text }
      // Of two devices that come at once the second hears so here, before it takes the first one's place in the room.
      guard comings.begin(person, device, into: room) else { throw CallProblem.activeElsewhere }
      return nil
    } catch { throw JoinError(error) }
  }

  public func turnedAway(_ identity: String, device: String?, from room: String) {
    guard Self.isCall(room) else { return }
    comings.end(PersonID(identity), device.map { DeviceID($0) }, into: room)
  }

  public func entered(
    _ identity: String, device: String?, _ room: String, grants: Grants
  ) async throws(JoinError) -> String? {
    guard let desk = desk(of: room) else { return nil }
    do throws(CallProblem) {
      if Self.isBeside(grants) {
        // The call may have ended meanwhile, and its room been made again for this one.
        try await desk.requireRoom(room)
        return nil
      }
      let (person, device) = (PersonID(identity), device.map { DeviceID($0) })
      defer { comings.end(person, device, into: room) }
      return try await desk.connect(person, device: device, inRoom: room).text
    } catch { throw JoinError(error) }
  }

  public func media(of identity: String, stay: String?, in room: String, _ presence: MediaPresence) {
    // One that has none, such as an administrator, is there beside the call's people.
    guard let stay = stay.flatMap({ CallUUID($0) }) else { return }
    let word: CallPresence =
      switch presence {
      case .connected: .stands
      case .gone: .gone
      case .lost: .lost
      }
    desk(of: room)?.media(word, of: PersonID(identity), stay: stay, inRoom: room)
  }

  /// Whom a room's administrator takes out is out of the call, and doesn't come back to it.
  public func willRemove(_ identity: String, from room: String) async throws(AdministrationError) {
    try require(await desk(of: room)?.remove(PersonID(identity), fromRoom: room))
  }

  public func willClose(_ room: String) async throws(AdministrationError) {
    try require(await desk(of: room)?.end(room: room))
  }

  /// - Parameter order: what became of it; nil: the room is no call's.
  private func require(_ order: CallDesk.Order?) throws(AdministrationError) {
    guard let order else { return }
    switch order {
    case .stored: break
    case .kept: throw .notStored
    case .refused: throw .full("removals and ends of calls that wait to be stored")
    }
  }

  /// - Returns: nil: it is no call's.
  private func desk(of room: String) -> CallDesk? {
    Self.isCall(room) ? desk.withLock { $0 } : nil
  }
}

extension EventCall {
  init(_ step: Aftermath.Step) {
    let call = step.call
    self.init(
      id: call.id.text, callerId: call.caller.text, path: call.path.rawValue, media: call.media.rawValue,
      people: call.people.map(\.id.text), outcome: call.end?.outcome.rawValue,
      duration: call.end?.duration.map { Int($0) }, session: step.session?.id.text,
      experience: step.session?.experience)
  }
}

extension JoinError {
  init(_ problem: CallProblem) {
    self =
      switch problem {
      case .removed: .removed
      case .activeElsewhere: .elsewhere
      case .storeUnavailable, .tooMany: .tooOften
      default: .noRoom
      }
  }
}
