internal import Calls
internal import Crypto
internal import Synchronization

/// What became of rings' pushes lately, and how long that took, for each service that carries them. What is kept from a person who has
/// blocked the other looks as if the same had become of it: neither while a service works nor while it fails is there a difference to what
/// is pushed.
///
/// Bounded: of rings those that began last are known, and of what was seen the last stays.
final class SeenPushes: Sendable {
  enum End: Hashable, Sendable {
    /// The service has taken it.
    case taken
    /// It has refused it, or could not be reached for as long as it was tried.
    case failed
    /// Nothing has become of it by the end of its ring.
    case unsettled
  }

  struct Outcome: Hashable, Sendable {
    var end: End
    /// Milliseconds from the ring's beginning, of what was settled.
    var delay: Int64
  }

  /// Apple's two are apart: a device says itself by which it is to be reached, and where the server's key or its network is for one of
  /// them alone all that goes to the other fails.
  private enum Service: Hashable {
    case apple(isSandbox: Bool)
    case webhook

    init(_ platform: Device.Platform, isSandbox: Bool) {
      self = platform == .webhook ? .webhook : .apple(isSandbox: isSandbox)
    }
  }

  /// Of one service, or of one end.
  private struct Delays {
    var all: [Int64] = []
    /// Where the next one is put, once there are as many as are remembered.
    var place = 0

    mutating func note(_ delay: Int64) {
      guard all.count >= SeenPushes.mostDelays else { return all.append(delay) }
      all[place] = delay
      place = (place + 1) % SeenPushes.mostDelays
    }
  }

  private struct Seen {
    /// The most recent outcome of each of the last people, so that one person's devices weigh no more than another's.
    var lately: [(person: PersonID, end: End)] = []
    var delays: [End: Delays] = [:]

    mutating func note(_ outcome: Outcome, of person: PersonID) {
      lately.removeAll { $0.person == person }
      lately.append((person, outcome.end))
      if lately.count > SeenPushes.mostPeople { lately.removeFirst() }
      delays[outcome.end, default: Delays()].note(outcome.delay)
    }
  }

  private struct State {
    /// When rings began, in milliseconds since 1970. A ring has an outcome for each device, and no one knows which is the last.
    var begun: [CallUUID: Int64] = [:]
    /// Those, and where the next one is put, once there are as many as are remembered.
    var rings: [CallUUID] = []
    var place = 0
    var services: [Service: Seen] = [:]
    /// What is said of rings that go on, if they go on for as long as they may.
    var kept: [CallUUID: [CallDelivery]] = [:]
  }

  static let mostRings = 4_096
  private static let mostDelays = 64
  /// Few, so that it is soon seen that a service fails, or works again.
  private static let mostPeople = 8
  /// As long as a ring may be where that is configured.
  private static let longest: Int64 = 300_000
  /// A ring that is over sooner says nothing of the service.
  private static let shortest: Int64 = 2_000
  /// Before any was seen.
  private static let usual: ClosedRange<Int64> = 80...900

  private let state = Mutex(State())

  func begin(_ ring: CallUUID, at moment: Int64) {
    state.withLock { state in
      guard state.begun.updateValue(moment, forKey: ring) == nil else { return }
      guard state.rings.count >= Self.mostRings else { return state.rings.append(ring) }
      state.begun[state.rings[state.place]] = nil
      state.rings[state.place] = ring
      state.place = (state.place + 1) % Self.mostRings
    }
  }

  /// What has become of a push is known from now on.
  func note(_ delivery: CallDelivery, at moment: Int64) {
    guard delivery.kind == .ring, let platform = Device.Platform(rawValue: delivery.platform) else { return }
    state.withLock { state in
      guard let begun = state.begun[delivery.ring] else { return }
      let delay = min(max(moment - begun, 0), Self.longest)
      guard let end = Self.end(of: delivery, after: delay) else { return }
      state.services[Service(platform, isSandbox: delivery.isSandbox), default: Seen()]
        .note(Outcome(end: end, delay: delay), of: delivery.person)
    }
  }

  /// - Returns: nil: it says something of the device or its token alone, or of the ring.
  private static func end(of delivery: CallDelivery, after delay: Int64) -> End? {
    switch delivery.state {
    case "delivered": .taken
    case "failed": delivery.isOfService ? .failed : nil
    case "expired" where delivery.reason == CallDelivery.ringOver: delay < shortest ? nil : .unsettled
    case "expired": delivery.isOfService ? .failed : nil
    default: nil
    }
  }

  /// What became of others: for the same ring of the same device the same of it.
  func draw(_ ring: CallUUID, _ device: Device) -> Outcome {
    let digest = SHA256.digest(Array("\(ring.text) \(device.id.text)".utf8))
    let (first, second) = (Self.number(digest.prefix(8)), Self.number(digest.dropFirst(8).prefix(8)))
    let service = Service(device.platform, isSandbox: device.environment == .sandbox)
    let seen = state.withLock { $0.services[service] }
    guard let seen, !seen.lately.isEmpty else {
      let span = UInt64(Self.usual.upperBound - Self.usual.lowerBound + 1)
      return Outcome(end: .taken, delay: Self.usual.lowerBound + Int64(first % span))
    }
    let end = seen.lately[Int(second % UInt64(seen.lately.count))].end
    let delays = seen.delays[end]?.all ?? []
    return Outcome(end: end, delay: delays.isEmpty ? 0 : delays[Int(first % UInt64(delays.count))])
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  // MARK: - Rings that are kept from people

  /// Remembers what is said of a ring that goes on, for its end.
  func keep(_ deliveries: [CallDelivery], of ring: CallUUID) {
    guard !deliveries.isEmpty else { return }
    state.withLock { state in
      if state.kept.count >= Self.mostRings { state.kept = [:] }
      state.kept[ring] = deliveries
    }
  }

  /// A ring is over.
  /// - Returns: what was said of it.
  func release(_ ring: CallUUID) -> [CallDelivery] {
    state.withLock { $0.kept.removeValue(forKey: ring) ?? [] }
  }
}

extension CallDelivery {
  /// Why it was given up before the service had taken it: its ring was over.
  public static let ringOver = "ringOver"
  /// Why something fails for all devices of a service. All else may be brought about by who has a device, by the token or the topic that
  /// it gives: a push that fails for that says nothing of others. So does one to an app that the server's key isn't for, though it fails for
  /// all who have that app.
  private static let reasonsOfService: Set<String> = [
    // It isn't the one that it should be; or there is no room for one more push to it.
    "certificate", "queueCount", "queueBytes",
    // It doesn't believe who this server is.
    "ExpiredProviderToken", "InvalidProviderToken", "MissingProviderToken", "UnrelatedKeyIdInToken",
    "BadEnvironmentKeyIdInToken", "BadCertificate", "BadCertificateEnvironment", "status401",
    // Its URL is another's.
    "MethodNotAllowed", "status405",
  ]
  /// The same of a webhook: it is its URL alone that brings these about, and a token that isn't known is `410`.
  private static let reasonsOfWebhook: Set<String> = ["status403", "status404"]
  /// Why something that was tried for as long as its ring wasn't sent in the end, and which says nothing of the service: it is asked too
  /// often for one token, or the ring is over. All else that is tried again is the service's own.
  private static let reasonsOfOne: Set<String> = ["TooManyRequests", "neverRang", ringOver]

  /// It failed for what would have failed for any device of that service.
  public var isOfService: Bool {
    switch state {
    // A redirect isn't followed, whatever the push.
    case "failed":
      Self.reasonsOfService.contains(reason) || reason.count == 9 && reason.hasPrefix("status3")
        || platform == Device.Platform.webhook.rawValue && Self.reasonsOfWebhook.contains(reason)
    case "expired": !Self.reasonsOfOne.contains(reason)
    default: false
    }
  }
}
