public import Calls

/// Who asks: the person of a token, and by which device.
public struct Caller: Hashable, Sendable {
  public var person: PersonID
  /// The name to show that the token has; nil: none.
  public var name: String?
  /// nil: it isn't known.
  public var device: DeviceID?
  /// What stands for it in its token, where it has said which it is; nil: nothing does.
  public var reader: DeviceID?
  /// By which the token was signed.
  public var apiKey: String
  /// When the token was issued, in milliseconds since 1970; nil: it doesn't say, or the server has made it itself. A person who was
  /// erased after that stays so.
  public var issuedAt: Int64?

  public init(
    _ person: PersonID, name: String? = nil, device: DeviceID? = nil, apiKey: String, issuedAt: Int64? = nil
  ) {
    self.person = person
    self.name = name
    self.device = device
    self.apiKey = apiKey
    self.issuedAt = issuedAt
  }
}
