/// What the server itself says in a session, numbered among the events of people.
public struct SystemEvent: Hashable, Sendable {
  public enum What: Hashable, Sendable {
    case joined(PersonID)
    case left(PersonID)
    case ownerLeft(PersonID)
    case ownerChanged(PersonID)
    case ended
  }

  public var seq: Int64
  public var what: What

  public init(seq: Int64, what: What) {
    self.seq = seq
    self.what = what
  }

  /// Types that begin so are the server's own.
  public static let prefix = "system."

  /// By bytes: a mark on the point would make another character of it, and the same word to who reads it.
  public static func isReserved(_ type: String) -> Bool { type.utf8.starts(with: prefix.utf8) }

  public var type: String {
    let name =
      switch what {
      case .joined: "joined"
      case .left: "left"
      case .ownerLeft: "ownerLeft"
      case .ownerChanged: "ownerChanged"
      case .ended: "ended"
      }
    return Self.prefix + name
  }
}
