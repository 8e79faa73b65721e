public import Calls

/// Who asks: the person of a token, and by which device.
public struct Caller: Hashable, Sendable {
  public var person: PersonID
  /// The name to show that the token has; nil: none.
  public var name: String?
  /// nil: it isn't known.
  public var device: DeviceID?
  /// By which the token was signed.
  public var apiKey: String

  public init(_ person: PersonID, name: String? = nil, device: DeviceID? = nil, apiKey: String) {
    self.person = person
    self.name = name
    self.device = device
    self.apiKey = apiKey
  }
}
