/// How the log of keys looked to a person who rings: the size and the root of the head that it has taken last. The person who is rung
/// compares it with a head of its own, which shows a server that has a log for each. Nothing of this server judges it.
public struct CallHead: Hashable, Sendable, Codable {
  /// Leaves.
  public var size: Int64
  /// 64 hexadecimal digits.
  public var root: String

  public init(size: Int64, root: String) {
    self.size = size
    self.root = root
  }
}
