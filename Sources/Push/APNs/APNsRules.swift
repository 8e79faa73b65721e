package import Model

/// What follows from an answer of APNs: the table of "Handling notification responses from APNs" in Apple's documentation.
package enum APNsRules {
  package enum Verdict: Equatable, Sendable {
    case settled(PushVerdict)
    /// The provider token is too old: the same again with a fresh one.
    case renewToken
  }

  /// - Parameter registeredAt: when the device gave its token.
  package static func verdict(_ answer: APNsAnswer, registeredAt: WallTime, _ attempt: PushTry) -> Verdict {
    let said = answer.reason.isEmpty ? "status\(answer.status)" : answer.reason
    switch (answer.status, answer.reason) {
    case (200, _): return .settled(.delivered)
    case (403, "ExpiredProviderToken"): return .renewToken
    case (410, _): return .settled(gone(answer, said, registeredAt))
    case (400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic"): return .settled(.remove(reason: said))
    // The connection is closed for having been idle.
    case (400, "IdleTimeout"), (429, _), (500...599, _):
      return .settled(attempt.again(said, after: answer.pause))
    case (400, let reason) where configured.contains(reason), (403, let reason), (404, let reason),
      (405, let reason):
      return .settled(.misconfigured(reason: reason.isEmpty ? said : reason))
    default: return .settled(.failed(reason: said))
    }
  }

  /// Of 400 those that the next push will get too: topic, key or this very program are not what they should be.
  private static let configured: Set<String> = [
    "BadTopic", "InvalidPushType", "MissingTopic", "TopicDisallowed", "DuplicateHeaders", "BadPriority",
    "BadExpirationDate", "BadCollapseId", "BadMessageId",
  ]

  /// A token is removed if it was registered before the moment at which it was known to be no good: later it may have come back.
  private static func gone(_ answer: APNsAnswer, _ said: String, _ registeredAt: WallTime) -> PushVerdict {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.goneAlways) { return .remove(reason: said) }
    #endif
    guard let moment = answer.timestamp, registeredAt < moment else { return .failed(reason: said) }
    return .remove(reason: said)
  }
}
