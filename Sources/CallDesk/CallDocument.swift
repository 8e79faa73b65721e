public import Calls

/// A call as its people see it.
public struct CallDocument: Hashable, Sendable {
  public var state: CallState
  /// nil: its media goes from device to device.
  public var room: String?
  /// By which the starter's token was signed, and those for the call are.
  public var apiKey: String
  /// Of people whose name is known. One who was erased has none.
  public var names: [PersonID: String]
  public var erased: Set<PersonID> = []

  public init(
    _ state: CallState, room: String?, apiKey: String, names: [PersonID: String], erased: Set<PersonID> = []
  ) {
    self.state = state
    self.room = room
    self.apiKey = apiKey
    self.names = names
    self.erased = erased
  }
}

/// A page of a person's history: the newest first.
public struct CallPage: Hashable, Sendable {
  /// Calls of a person that are looked at for a page of those with another person.
  public static let mostLookedAt = 1_000

  public var calls: [CallDocument]
  /// Behind which it goes on; nil: there are no more.
  public var next: Place?

  /// Where a call stands in the history.
  public struct Place: Hashable, Sendable {
    public var created: Int64
    public var id: CallUUID

    public init(created: Int64, id: CallUUID) {
      self.created = created
      self.id = id
    }
  }
}
