internal import HTTPClient
internal import Model

/// A push as APNs wants it: "Sending notification requests to APNs" in Apple's documentation.
enum APNsRequest {
  /// What is wrong with what a device has registered, without asking APNs; nil: nothing that is seen.
  static func refusal(of device: PushDevice) -> PushVerdict? {
    // Apple says that tokens have no fixed length; they have 64 digits, and up to 200 elsewhere.
    let isToken =
      (8...400).contains(device.token.utf8.count)
      && device.token.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0 | 0x20) }
    guard isToken else { return .remove(reason: "BadDeviceToken") }
    let isTopic =
      (1...255).contains(device.topic.utf8.count)
      && device.topic.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    return isTopic ? nil : .failed(reason: "BadTopic")
  }

  static func push(_ job: PushJob, to url: HTTPURL, providerToken: String, patience: Duration)
    -> HTTPClientRequest
  {
    let isVoIP = job.device.platform == .apnsVoIP
    var request = HTTPClientRequest(.post, url.appending(["3", "device", job.device.token]))
    request.body = job.payload
    request.headers = [
      ("authorization", "bearer " + providerToken), ("apns-id", job.id),
      ("apns-topic", isVoIP ? voIPTopic(job.device.topic) : alertTopic(job.device.topic)),
      ("apns-push-type", isVoIP ? "voip" : "alert"), ("apns-priority", "10"),
      ("apns-expiration", String(job.expiration)),
    ]
    // What comes later takes the alert's place.
    if !isVoIP { request.headers.append(("apns-collapse-id", job.ringId)) }
    bound(&request, patience)
    return request
  }

  /// Asks for nothing that there is: whatever the answer, the connection stands.
  static func sign(of url: HTTPURL, patience: Duration) -> HTTPClientRequest {
    var request = HTTPClientRequest(.get, url)
    bound(&request, patience)
    return request
  }

  private static let voIPSuffix = ".voip"

  private static func voIPTopic(_ topic: String) -> String {
    topic.hasSuffix(voIPSuffix) ? topic : topic + voIPSuffix
  }

  /// Apple takes no alert for a topic of VoIP pushes.
  private static func alertTopic(_ topic: String) -> String {
    topic.hasSuffix(voIPSuffix) ? String(topic.dropLast(voIPSuffix.count)) : topic
  }

  private static func bound(_ request: inout HTTPClientRequest, _ patience: Duration) {
    let milliseconds = max(1, Int(clamping: patience.wholeNanoseconds / 1_000_000))
    request.milliseconds = milliseconds
    request.connectMilliseconds = milliseconds
    request.limit = APNsAnswer.limit
  }
}
