public import AccessTokens
public import CallDesk
internal import Calls
internal import Model
public import Rooms
internal import Synchronization

/// What joins calls and rooms: a call's room admits its people and stands as long as the call, and the call follows whose media is
/// there.
public final class CallRooms: CallOutlet, RoomOverseer {
  /// By which it is seen that a room is a call's: no other may have such a name.
  static let prefix = "call-"

  let feeds = CallFeeds()
  let sessions = SessionFeeds()
  private let rooms: RoomDirectory
  private let desk = Mutex<CallDesk?>(nil)

  public init(rooms: RoomDirectory) { self.rooms = rooms }

  /// From now on.
  public func begin(_ desk: CallDesk, _ open: [String]) async {
    self.desk.withLock { $0 = desk }
    rooms.oversee(by: self)
    for room in open { await make(room) }
  }

  func make(_ room: String) async {
    var settings = rooms.defaults
    // The call says when it is over.
    settings.emptyTimeout = 86_400
    settings.departureTimeout = 86_400
    _ = try? await rooms.create(room, settings)
  }

  // MARK: - What was decided

  public func perform(_ aftermath: Aftermath) {
    feeds.wake(aftermath.listeners)
    sessions.hand(aftermath.sharedEvents)
    let (steps, closes, revoked) = (aftermath.steps, aftermath.closes, aftermath.revoked)
    guard !steps.isEmpty || !closes.isEmpty || !revoked.isEmpty else { return }
    Task { [self] in
      for (person, room) in revoked { if let room { try? await rooms.remove(person.text, from: room) } }
      for close in closes where close.reason != .callEnded {
        if let room = close.room { await rooms.disconnect(close.person.text, from: room) }
      }
      for step in steps where step.kind == .ended {
        if let room = step.room { try? await rooms.close(room: room) }
      }
    }
  }

  // MARK: - Who comes in, and whose media is there

  public func admit(
    _ identity: String, device: String?, to room: String, grants: Grants
  ) async throws(JoinError) {
    guard room.hasPrefix(Self.prefix), let desk = desk.withLock({ $0 }) else { return }
    guard !grants.roomAdmin, !grants.recorder else { return }
    do throws(CallProblem) {
      try await desk.connect(PersonID(identity), device: device.map { DeviceID($0) }, inRoom: room)
    } catch {
      switch error {
      case .removed: throw .removed
      case .storeUnavailable: throw .tooOften
      default: throw .noRoom
      }
    }
  }

  public func media(of identity: String, in room: String, isConnected: Bool) {
    guard room.hasPrefix(Self.prefix) else { return }
    desk.withLock { $0 }?.media(isConnected, of: PersonID(identity), inRoom: room)
  }
}
