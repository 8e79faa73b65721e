public import Calls

/// A device that is woken by a push.
public struct Device: Hashable, Sendable {
  public enum Platform: String, Hashable, Sendable, CaseIterable {
    /// An iPhone's push for calls.
    case apnsVoIP = "apns-voip"
    case apnsAlert = "apns-alert"
    /// The app's own server.
    case webhook
  }

  public enum Environment: String, Hashable, Sendable, CaseIterable {
    case production
    case sandbox
  }

  /// What shows a call: the system's screen, or the app's.
  public enum Screen: String, Hashable, Sendable, CaseIterable {
    case system
    case app
  }

  public let id: DeviceID
  public var platform: Platform
  /// The app's bundle at Apple; at most 255 bytes.
  public var topic: String
  /// By which the push service knows the device; at most 512 bytes. It is never logged.
  public var token: String
  public var environment = Environment.production
  public var screen = Screen.system
  /// Milliseconds since 1970.
  public var registeredAt: Int64 = 0
  public var usedAt: Int64 = 0

  public init(_ id: DeviceID, platform: Platform, topic: String, token: String) {
    self.id = id
    self.platform = platform
    self.topic = topic
    self.token = token
  }
}
