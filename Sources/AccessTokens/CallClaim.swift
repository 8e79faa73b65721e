/// `call`: of which call a token is, and by which device of its person. The server itself makes such tokens.
public struct CallClaim: Equatable, Sendable {
  /// The call's id: a UUID.
  public var id: String
  /// nil: it was given to a client that doesn't say which device it is.
  public var device: String?

  public init(id: String, device: String?) {
    self.id = id
    self.device = device
  }
}
