import AccessTokens
import HTTPClient
import Model
import Push

/// An answer of a push service: what is read of it has bounds, and takes a token away only where Apple says that it is no good.
func fuzzPushAnswer(_ input: UnsafeRawBufferPointer) {
  guard input.count >= 2 else { return }
  let status = [200, 400, 403, 410, 413, 429, 500, 503][Int(input[0]) % 8]
  let answer = APNsAnswer(
    HTTPAnswer(
      head: HTTPAnswerHead(status: status), body: Array(input.dropFirst(2)),
      retryAfter: input[1] < 128 ? nil : Int(input[1]) - 140))
  let isWord = answer.reason.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0 | 32) }
  check(answer.reason.utf8.count <= 64 && isWord, "a reason is a word")
  check(
    answer.timestamp.map { (0..<1_000_000_000_000_000).contains($0.milliseconds) } ?? true,
    "a moment is one of this age")
  check(answer.pause >= .zero && answer.pause <= .seconds(86_400), "a pause is a day at most")

  let registeredAt = WallTime(milliseconds: 1_700_000_000_000)
  let attempt = PushTry(
    number: Int(input[1]), now: Instant(nanoseconds: 1_000_000_000),
    deadline: Instant(nanoseconds: 31_000_000_000), jitter: Double(input[0]) / 255)
  switch APNsRules.verdict(answer, registeredAt: registeredAt, attempt) {
  case .renewToken: check(status == 403, "an old provider token is refused")
  case .settled(.remove):
    let isBad = status == 400 && ["BadDeviceToken", "DeviceTokenNotForTopic"].contains(answer.reason)
    let isGone = status == 410 && answer.timestamp.map { $0 > registeredAt } == true
    check(isBad || isGone, "a token stays that isn't said to be bad")
  case .settled(.retry(let pause, _)):
    check(pause > .zero && attempt.now + pause < attempt.deadline, "again while it rings, and not at once")
  case .settled(.delivered): check(status == 200, "what is refused isn't delivered")
  case .settled(.failed), .settled(.misconfigured), .settled(.expired): break
  }
}

/// A ring whose caller has the input as its name: the push is within its bound, and has as many characters of the name as fit.
func fuzzPushPayload(_ input: UnsafeRawBufferPointer) {
  guard input.count >= 2 else { return }
  let platform = PushDevice.Platform.allCases[Int(input[0]) % 3]
  let name = String(decoding: input.dropFirst(2), as: UTF8.self)
  let device = PushDevice(
    person: "b", id: "d", platform: platform, token: "t", topic: "a", registeredAt: WallTime(milliseconds: 0))
  let key = ["d": ["ciphertext": String(repeating: "A", count: 20 * Int(input[1]))]]
  let notice = PushNotice(
    ringId: "r", callId: "c", callerId: "a", callerName: name, media: "audio",
    kind: .ring(PushNotice.Ring(expiresAt: WallTime(milliseconds: 0), keys: input[1] == 0 ? [:] : key)))
  guard let payload = PushPayload(notice, for: device), let cut = payload.callerName else {
    return check(false, "any name is cut until it fits")
  }
  check(payload.bytes.count <= PushPayload.limit(platform), "a push has a bound")
  check(name.utf8.starts(with: cut.utf8), "a name is cut at its end")
  let end = name.utf8.index(name.startIndex, offsetBy: cut.utf8.count)
  check(name.indices.contains(end) || end == name.endIndex, "a name is cut at a character")
  if input[1] == 0, name.utf8.count < 300 { check(cut.utf8.count == name.utf8.count, "what fits is whole") }
  // What is refused in JSON from others may stand here.
  if CombiningMarks.areFew(in: cut) { check(StrictJSON.parse(payload.bytes) != nil, "a push is JSON") }
}
