/// What `roost token` is to sign.
public struct TokenRequest: Equatable, Sendable {
  public var configuration = ConfigurationSource()
  public var keyChoice = KeyChoice()
  public var room: String?
  public var identity: String?
  /// It is for the identity as a person, and for no room.
  public var isOfPerson = false
  public var name: String?
  public var metadata: String?
  /// Seconds.
  public var validFor = 6 * 3600
  public var publish = true
  public var subscribe = true
  public var data = true
  public var sources: [String] = []
  public var updateMetadata = false
  public var hidden = false
  public var create = false
  public var list = false
  public var admin = false
  /// Who administers may look at single pictures, too.
  public var thumbnails = false
  /// The page's address; a link to it is printed instead of the bare token.
  public var link: String?
  /// An object with the token, and the link, rather than one of them as text.
  public var json = false

  public init() {}

  /// The key pair to sign with: as given, else the one that is configured.
  /// - Throws: `UsageError` where it isn't clear which one is meant.
  public func keyPair(in configuration: Configuration) throws(UsageError) -> (key: String, secret: String) {
    try keyChoice.pair(in: configuration, command: "token")
  }
}
