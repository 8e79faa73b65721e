public import Calls

/// A page of the people that a person has blocked, the newest first.
public struct BlockPage: Hashable, Sendable {
  public var people: [PersonID]
  /// Behind which it goes on; nil: there are no more.
  public var next: Place?

  /// The place of a person in that list.
  public struct Place: Hashable, Sendable {
    /// Milliseconds since 1970.
    public var time: Int64
    public var person: PersonID

    public init(time: Int64, person: PersonID) {
      self.time = time
      self.person = person
    }
  }
}
