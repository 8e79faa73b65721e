import CallDesk
import Calls
import HTTPClient
import Model
import Testing

@testable import Push

@Suite("What the end of a push says of its service", .timeLimit(.minutes(1)))
struct PushReasonTests {
  private static let now = Instant(nanoseconds: 1_000_000_000)
  /// What would be sent again is too late.
  private static let attempt = PushTry(number: 1, now: now, deadline: now + .milliseconds(1), jitter: 0.5)

  private func isOfService(
    _ state: PushOutcome.State, _ reason: String, _ platform: PushDevice.Platform = .webhook
  ) -> Bool {
    let ring = CallUUID(random: (1, 1))
    return CallDelivery(
      call: ring, person: PersonID("bob"), device: DeviceID("phone"), ring: ring, kind: .ring,
      platform: platform.rawValue, state: state.rawValue, reason: reason, time: 0, tries: 1
    ).isOfService
  }

  /// By what a queue makes of it; nil: nothing has become of the push yet.
  private func isOfService(_ verdict: PushVerdict, _ platform: PushDevice.Platform = .webhook) -> Bool? {
    let device = PushDevice(
      person: "bob", id: "phone", platform: platform, token: "t", topic: "",
      registeredAt: WallTime(milliseconds: 1_000))
    var queue = PushQueue()
    queue.add(
      PushJob(
        id: "id", device: device, ringId: "ring", isRing: true, payload: [], expiration: 0,
        deadline: Self.now + .seconds(30)))
    guard case .send(let job) = queue.next(now: Self.now) else { return nil }
    queue.answered(job.number, verdict, now: Self.now)
    return queue.takeFinished().first.map { isOfService($0.state, $0.reason, platform) }
  }

  // MARK: - Answers

  /// Apple's table: those that no token and no topic brings about.
  private static let ofAPNs: [Int: Set<String>] = [
    400: ["IdleTimeout"],
    403: [
      "BadCertificate", "BadCertificateEnvironment", "ExpiredProviderToken", "InvalidProviderToken",
      "MissingProviderToken", "UnrelatedKeyIdInToken", "BadEnvironmentKeyIdInToken",
    ],
    405: ["MethodNotAllowed"], 429: ["TooManyProviderTokenUpdates", ""], 500: ["InternalServerError", ""],
    503: ["ServiceUnavailable", "Shutdown", ""],
  ]
  private static let ofOne: [Int: Set<String>] = [
    200: [""],
    400: [
      "", "BadCollapseId", "BadDeviceToken", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic",
      "DeviceTokenNotForTopic", "DuplicateHeaders", "InvalidPushType", "MissingDeviceToken", "MissingTopic",
      "PayloadEmpty", "TopicDisallowed", "unreadable", "SomethingNew",
    ],
    403: ["", "Forbidden", "unreadable"], 404: ["", "BadPath"], 410: ["", "ExpiredToken", "Unregistered"],
    413: ["", "PayloadTooLarge"], 422: [""], 429: ["TooManyRequests"],
  ]

  @Test(arguments: [true, false])
  func `of APNs' answers those do that no device's token or topic can bring about`(expected: Bool) {
    for (status, reasons) in expected ? Self.ofAPNs : Self.ofOne {
      for reason in reasons {
        // It was registered since, where its token is gone.
        let answer = APNsAnswer(
          status: status, reason: reason, timestamp: WallTime(milliseconds: 500))
        let settled: PushVerdict =
          switch APNsRules.verdict(answer, registeredAt: WallTime(milliseconds: 1_000), Self.attempt) {
          case .settled(let verdict): verdict
          // One that is made again is refused too.
          case .renewToken: .misconfigured(reason: reason)
          }
        #expect(isOfService(settled, .apnsVoIP) == expected, "\(status) \(reason)")
      }
    }
  }

  @Test func `of a webhook's answers those do that are about the request, or come from one that fails`() {
    for status in 100...599 {
      let verdict = WebhookPush.verdict(status, retryAfter: nil, Self.attempt)
      let expected =
        switch status {
        case 300..<400, 401, 403, 404, 405, 408, 425, 429, 500..<600: true
        default: false
        }
      #expect(isOfService(verdict) == expected, "\(status)")
    }
  }

  @Test
  func
    `one that can't be reached or isn't the one that it should be does, and a request that can't be made doesn't`()
  {
    let errors: [(error: HTTPClientError, isOfService: Bool)] = [
      (.connection("refused"), true), (.timeout, true), (.tooLarge(limit: 1), true),
      (.certificate("expired"), true),
      (.authorities("no such file"), true), (.request("a line end"), false), (.stopped, false),
    ]
    for (error, expected) in errors {
      #expect(isOfService(Self.attempt.verdict(on: error)) == expected, "\(error)")
    }
  }

  // MARK: - Without an answer

  @Test(arguments: PushDrop.allCases)
  func `what isn't sent does where there is no room or no time for it`(drop: PushDrop) {
    let (state, expected): (PushOutcome.State, Bool) =
      switch drop {
      case .queueCount, .queueBytes: (.failed, true)
      case .deviceGone: (.failed, false)
      case .late: (.expired, true)
      case .neverRang, .ringOver: (.expired, false)
      }
    #expect(isOfService(state, drop.rawValue) == expected)
  }

  @Test func `what can't be sent to one device, or is taken, doesn't`() {
    #expect(!isOfService(.failed, "notConfigured") && !isOfService(.failed, "payloadTooLarge"))
    #expect(!isOfService(.delivered, "") && !isOfService(.removed, "status410"))
  }
}
