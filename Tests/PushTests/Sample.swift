import Model

@testable import Push

/// Devices and notices of tests, all alike but for what a test is about.
enum Sample {
  /// - Parameter number: makes the token, among other things.
  static func device(
    _ number: Int = 1, _ platform: PushDevice.Platform = .apnsVoIP,
    environment: PushDevice.Environment = .production, registeredAt: Int64 = 1_000_000
  ) -> PushDevice {
    PushDevice(
      person: "bea", id: "device-\(number)", platform: platform, environment: environment,
      token: token(number), topic: "com.example.app", registeredAt: WallTime(milliseconds: registeredAt))
  }

  /// 64 digits.
  static func token(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "a", count: 60 - digits.count) + "0000" + digits
  }

  static let ringId = "0192a1b2-0000-7000-8000-0123456789ab"

  /// - Parameter expiresAt: milliseconds since 1970.
  static func ring(
    name: String? = "Ada", expiresAt: Int64 = 1_800_000_030_000, keys: [String: [String: String]] = [:],
    ringId: String = ringId
  ) -> PushNotice {
    PushNotice(
      ringId: ringId, callId: "0192a1b2-1111-7000-8000-0123456789ab", callerId: "ada", callerName: name,
      media: "video",
      kind: .ring(
        PushNotice.Ring(
          room: "room-1", tokens: ["device-1": "call.token.here", "device-2": "another.token.here"],
          url: "wss://roost.example/v1/ws", expiresAt: WallTime(milliseconds: expiresAt), keys: keys)))
  }

  static func end(_ reason: String = "cancelled", name: String? = "Ada", ringId: String = ringId)
    -> PushNotice
  {
    PushNotice(
      ringId: ringId, callId: "0192a1b2-1111-7000-8000-0123456789ab", callerId: "ada", callerName: name,
      media: "video", kind: .ended(reason: reason))
  }

  /// - Parameters:
  ///   - deadline: seconds on the clock that isn't stepped.
  ///   - device: its number; nil: that of the push.
  static func job(
    _ number: Int = 1, _ platform: PushDevice.Platform = .apnsVoIP, isRing: Bool = true,
    ringId: String = ringId, bytes: Int = 100, deadline: Int64 = 30, to device: Int? = nil
  ) -> PushJob {
    PushJob(
      id: "id-\(number)", device: self.device(device ?? number, platform), ringId: ringId, isRing: isRing,
      payload: [UInt8](repeating: 46, count: bytes), expiration: isRing ? 1_800_000_030 : 0,
      deadline: second(deadline))
  }

  static func second(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }
}
