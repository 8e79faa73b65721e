import HTTPClient
import Model
import Testing

@testable import Push

@Suite("What follows from an answer of APNs", .timeLimit(.minutes(1)))
struct APNsRulesTests {
  private static let registered = WallTime(milliseconds: 1_000_000)

  /// The second of thirty seconds, without jitter to either side.
  private func attempt(_ number: Int = 1, second: Int64 = 1) -> PushTry {
    PushTry(number: number, now: Sample.second(second), deadline: Sample.second(30), jitter: 0.5)
  }

  private func verdict(_ answer: APNsAnswer, _ attempt: PushTry) -> APNsRules.Verdict {
    APNsRules.verdict(answer, registeredAt: Self.registered, attempt)
  }

  // MARK: Apple's table

  @Test(arguments: [
    (400, "BadCollapseId"), (400, "BadExpirationDate"), (400, "BadMessageId"), (400, "BadPriority"),
    (400, "BadTopic"), (400, "DuplicateHeaders"), (400, "InvalidPushType"), (400, "MissingTopic"),
    (400, "TopicDisallowed"), (403, "BadCertificate"), (403, "BadCertificateEnvironment"),
    (403, "Forbidden"), (403, "InvalidProviderToken"), (403, "MissingProviderToken"),
    (403, "UnrelatedKeyIdInToken"), (403, "BadEnvironmentKeyIdInToken"), (404, "BadPath"),
    (405, "MethodNotAllowed"),
  ])
  func `what the operator has to mend is said, and not sent again`(status: Int, reason: String) {
    #expect(
      verdict(APNsAnswer(status: status, reason: reason), attempt())
        == .settled(.misconfigured(reason: reason)))
  }

  @Test(arguments: [
    (400, "PayloadEmpty"), (400, "MissingDeviceToken"), (413, "PayloadTooLarge"), (400, "SomethingNew"),
    (410, "Unregistered"), (418, "Teapot"), (204, "Odd"), (302, "Moved"), (0, "Nothing"),
  ])
  func `what this push alone is refused for isn't sent again`(status: Int, reason: String) {
    #expect(
      verdict(APNsAnswer(status: status, reason: reason), attempt()) == .settled(.failed(reason: reason)))
  }

  @Test(arguments: [
    (429, "TooManyRequests"), (429, "TooManyProviderTokenUpdates"), (500, "InternalServerError"),
    (503, "ServiceUnavailable"), (503, "Shutdown"), (502, "unreadable"), (400, "IdleTimeout"),
  ])
  func `what passes is sent again`(status: Int, reason: String) {
    #expect(
      verdict(APNsAnswer(status: status, reason: reason), attempt())
        == .settled(.retry(after: .milliseconds(250), reason: reason)))
  }

  @Test func `200 is taken, and an old provider token made again`() {
    #expect(verdict(APNsAnswer(status: 200), attempt()) == .settled(.delivered))
    #expect(verdict(APNsAnswer(status: 200, reason: "unreadable"), attempt()) == .settled(.delivered))
    #expect(verdict(APNsAnswer(status: 403, reason: "ExpiredProviderToken"), attempt()) == .renewToken)
  }

  @Test(arguments: ["BadDeviceToken", "DeviceTokenNotForTopic"])
  func `a bad token is removed`(reason: String) {
    #expect(
      verdict(APNsAnswer(status: 400, reason: reason), attempt()) == .settled(.remove(reason: reason)))
  }

  @Test(
    arguments: [
      (1_000_001, true), (2_000_000, true), (1_000_000, false), (999_999, false), (0, false), (nil, false),
    ] as [(Int64?, Bool)])
  func `one that is unregistered is removed if it was registered before`(moment: Int64?, isRemoved: Bool) {
    for reason in ["Unregistered", "ExpiredToken"] {
      let answer = APNsAnswer(
        status: 410, reason: reason, timestamp: moment.map { WallTime(milliseconds: $0) })
      #expect(
        verdict(answer, attempt()) == .settled(isRemoved ? .remove(reason: reason) : .failed(reason: reason)))
    }
  }

  @Test func `without a word of its own an answer is named by its status`() {
    #expect(verdict(APNsAnswer(status: 413), attempt()) == .settled(.failed(reason: "status413")))
    #expect(verdict(APNsAnswer(status: 403), attempt()) == .settled(.misconfigured(reason: "status403")))
  }

  // MARK: Again, and when

  @Test func `pauses double up to four seconds, and vary by a quarter`() {
    let milliseconds = [250, 500, 1_000, 2_000, 4_000, 4_000, 4_000, 4_000]
    for (number, pause) in zip(1..., milliseconds) {
      #expect(attempt(number).again("x") == .retry(after: .milliseconds(pause), reason: "x"))
    }
    for jitter in [0, 0.3, 1.0] {
      var attempt = attempt(3)
      attempt.jitter = jitter
      guard case .retry(let pause, _) = attempt.again("x") else {
        Issue.record("it gives up")
        continue
      }
      #expect(pause >= .milliseconds(750) && pause <= .milliseconds(1_250))
    }
  }

  @Test func `what would be sent after the ring is over is not sent again`() {
    #expect(attempt(1, second: 29).again("x") == .retry(after: .milliseconds(250), reason: "x"))
    #expect(attempt(3, second: 29).again("x") == .expired(reason: "x"))
    #expect(attempt(1, second: 30).again("x") == .expired(reason: "x"))
    #expect(attempt(1, second: 40).again("x") == .expired(reason: "x"))
  }

  @Test func `a pause that is asked for is kept where there is time, however long it is`() {
    let busy = APNsAnswer(status: 429, reason: "TooManyRequests", pause: .seconds(7))
    #expect(verdict(busy, attempt()) == .settled(.retry(after: .seconds(7), reason: "TooManyRequests")))
    #expect(verdict(busy, attempt(1, second: 25)) == .settled(.expired(reason: "TooManyRequests")))
    for pause in [Duration.seconds(86_400), .seconds(Int64.max)] {
      #expect(attempt().again("x", after: pause) == .expired(reason: "x"))
    }
  }

  @Test(arguments: [
    (HTTPClientError.timeout, PushVerdict.retry(after: .milliseconds(250), reason: "noAnswer")),
    (.connection("refused"), .retry(after: .milliseconds(250), reason: "connection")),
    (.tooLarge(limit: 1), .retry(after: .milliseconds(250), reason: "unreadable")),
    (.certificate("x"), .misconfigured(reason: "certificate")),
    (.authorities("x"), .misconfigured(reason: "certificate")), (.request("x"), .failed(reason: "request")),
    (.stopped, .failed(reason: "stopped")),
  ])
  func `a try without an answer is made again, unless it can't come to one`(
    error: HTTPClientError, expected: PushVerdict
  ) {
    #expect(attempt().verdict(on: error) == expected)
  }

  @Test(arguments: [
    (HTTPClientError.timeout, true), (.connection("broken off"), true), (.tooLarge(limit: 1), true),
    (.certificate("x"), false), (.authorities("x"), false), (.request("x"), false),
  ])
  func `what has no answer may have arrived, and what never was sent has not`(
    error: HTTPClientError, mayHaveArrived: Bool
  ) {
    let result = attempt().result(on: error)
    #expect(result.isUnanswered == mayHaveArrived && result.verdict == attempt().verdict(on: error))
  }

  // MARK: What is read

  private func read(_ body: String, status: Int = 410, retryAfter: Int? = nil) -> APNsAnswer {
    APNsAnswer(
      HTTPAnswer(head: HTTPAnswerHead(status: status), body: Array(body.utf8), retryAfter: retryAfter))
  }

  @Test func `an answer's reason, moment and pause are read`() {
    #expect(
      read(#"{"reason":"Unregistered","timestamp":1508249865488}"#, retryAfter: 3)
        == APNsAnswer(
          status: 410, reason: "Unregistered", timestamp: WallTime(milliseconds: 1_508_249_865_488),
          pause: .seconds(3)))
    #expect(read("", status: 200) == APNsAnswer(status: 200))
    #expect(read("", retryAfter: .max).pause == .seconds(86_400))
    #expect(read("", retryAfter: -5).pause == .zero)
  }

  @Test(arguments: [
    "<html>no</html>", "[]", "null", "{", #"{"reason":7}"#, #"{"reason":"a b"}"#, #"{"reason":""}"#,
    #"{"reason":"line\nbreak"}"#, #"{"reason":"Ünregistered"}"#, #"{"Reason":"Unregistered"}"#,
    #"{"reason":"Unregistered","reason":"BadDeviceToken"}"#, "\u{0}",
    #"{"reason":"\#(String(repeating: "a", count: 65))"}"#,
    #"{"reason":"Unregistered","a":"\#(String(repeating: "a", count: 4_096))"}"#,
    #"{"a":\#(String(repeating: "[", count: 4_000))"#,
  ])
  func `what is no word of APNs is unreadable, whatever it is`(body: String) {
    #expect(read(body).reason == APNsAnswer.unreadable)
    #expect(read(body).timestamp == nil)
  }

  @Test(arguments: ["-1", "1e15", "1e300", "\"5\"", "null", "true"])
  func `a moment that is none is left out, and the reason stays`(text: String) {
    let answer = read(#"{"reason":"Unregistered","timestamp":\#(text)}"#)
    #expect(answer.reason == "Unregistered" && answer.timestamp == nil)
  }
}
