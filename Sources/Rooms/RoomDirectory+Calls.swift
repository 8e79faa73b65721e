public import Model

/// What those who oversee rooms have to say in them.
extension RoomDirectory {
  /// Says in a room, and to those who read its events, what has happened in the call that it is of. Of a call without a room it is said
  /// under the call's own id, in a log that no one can join.
  /// - Parameter room: its name; nil: the call has none.
  public func announce(_ kind: RoomEventKind, _ call: EventCall, in room: String?) async {
    if let room, let live = self.room(of: room) {
      guard case .administrationRefused = await live.handle(.called(kind, call)) else { return }
    }
    // Of a room that is over, too, also by now: its log goes on no more.
    events.note(kind, call, time: wallTime)
  }
}
