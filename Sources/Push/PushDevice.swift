public import Model

/// A device that rings are pushed to, as it is registered.
public struct PushDevice: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  public enum Platform: String, CaseIterable, Sendable {
    /// Wakes a phone that reports the call to the system at once.
    case apnsVoIP = "apns-voip"
    /// Shows an alert, where the system's call screen isn't to be used.
    case apnsAlert = "apns-alert"
    /// Goes to the URL of the configuration.
    case webhook
  }

  public enum Environment: String, CaseIterable, Sendable {
    case production
    case sandbox
  }

  /// Whose it is.
  public var person: String
  /// One of that person's devices; another person may have one of the same id.
  public var id: String
  public var platform: Platform
  /// Which of Apple's services knows its token.
  public var environment: Environment
  /// A secret: who has it may ring the device.
  public var token: String
  /// The app's bundle id, with or without the suffix of VoIP pushes.
  public var topic: String
  /// When it gave this token last.
  public var registeredAt: WallTime

  public init(
    person: String, id: String, platform: Platform, environment: Environment = .production, token: String,
    topic: String, registeredAt: WallTime
  ) {
    self.person = person
    self.id = id
    self.platform = platform
    self.environment = environment
    self.token = token
    self.topic = topic
    self.registeredAt = registeredAt
  }

  /// Without the token, so that none comes into a log by accident.
  public var description: String { "\(platform.rawValue) device \(id) of \(person)" }
  public var debugDescription: String { description }
}

extension PushDevice {
  /// Which device it is, whatever its token.
  struct Name: Hashable, Sendable {
    var person: String
    var id: String
  }

  var name: Name { Name(person: person, id: id) }
}
