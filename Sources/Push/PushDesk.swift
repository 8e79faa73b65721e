internal import Crypto
public import Logging
internal import Model

/// Rings the devices of people: gives a notice to all of a person's at once, each by the push service that reaches it, and says of
/// each what became of it.
///
/// What fails for a while is sent again until the ring is over. Rings go before ends of rings, and ends only to devices that may
/// have the ring. Nothing is kept over a restart.
public final class PushDesk: Sendable {
  /// Where pushes may go; what is nil reaches no device.
  public struct Services: Sendable {
    public var apns: APNsTerms?
    public var webhook: PushWebhookTerms?

    public init(apns: APNsTerms? = nil, webhook: PushWebhookTerms? = nil) {
      self.apns = apns
      self.webhook = webhook
    }
  }

  /// Seconds for which the end of a ring is worth sending, and for which a phone that is off may still learn what it missed.
  private static let endPatience = Duration.seconds(10)
  private static let missedSeconds: Int64 = 86_400

  private let apns: [PushDevice.Environment: PushSender]
  private let webhook: PushSender?
  private let texts: PushTexts
  private let clocks: PushClocks
  private let report: @Sendable (PushOutcome) -> Void

  /// The connection to the service of those who have the app from the store is made at once.
  /// - Parameter report: hears of each push what became of it, in any order; called on threads of its own, and returns soon.
  public init(
    _ services: Services, texts: PushTexts = PushTexts(), clocks: PushClocks, log: Log,
    report: @escaping @Sendable (PushOutcome) -> Void
  ) {
    self.texts = texts
    self.clocks = clocks
    self.report = report
    let sender = { (name: String, platform: any PushPlatform, limits: PushQueue.Limits) in
      PushSender(name, platform, limits: limits, clocks: clocks, log: log, report: report)
    }
    var apns: [PushDevice.Environment: PushSender] = [:]
    if let terms = services.apns {
      let tokens = ProviderTokens(
        ProviderToken(key: terms.key, keyID: terms.keyID, teamID: terms.teamID), clocks: clocks)
      let limits = PushQueue.Limits(
        count: terms.waiting, bytes: terms.waitingBytes, atOnce: terms.atOnce)
      for (environment, url) in terms.addresses {
        apns[environment] = sender(
          environment.rawValue, APNsClient(terms, at: url, tokens: tokens, clocks: clocks), limits)
      }
    }
    self.apns = apns
    webhook = services.webhook.map { terms in
      let limits = PushQueue.Limits(
        count: terms.waiting, bytes: terms.waitingBytes, atOnce: terms.atOnce)
      return sender("webhook", WebhookPush(terms, clocks: clocks), limits)
    }
    if let production = apns[.production] { Task { await production.stayReady() } }
  }

  /// Sends a notice to devices, beside each other; returns once it is queued. A ring that is over is sent no more, to any device,
  /// before its end goes out.
  /// - Parameter mayHaveIt: of an end: whether a device may have the ring, as far as reports say. It is asked behind the report of all
  ///   that is settled; what isn't, the end waits for.
  public func deliver(
    _ notice: PushNotice, to devices: [PushDevice],
    mayHaveIt: @escaping @Sendable (PushDevice) -> Bool = { _ in true }
  ) async {
    if notice.ring == nil { await stop(ringId: notice.ringId) }
    var jobs: [ObjectIdentifier: (sender: PushSender, jobs: [PushJob])] = [:]
    for device in devices {
      guard let sender = self.sender(for: device) else {
        fail(notice, device, "notConfigured")
        continue
      }
      guard let payload = PushPayload(notice, for: device, texts: texts) else {
        fail(notice, device, "payloadTooLarge")
        continue
      }
      jobs[ObjectIdentifier(sender), default: (sender, [])].jobs.append(job(notice, device, payload.bytes))
    }
    for (sender, jobs) in jobs.values {
      if notice.ring != nil {
        await sender.send(jobs)
      } else {
        await sender.end(jobs, mayHaveIt)
      }
    }
  }

  /// That ring is over, on all devices, without a push that says so: it isn't sent again.
  public func stop(ringId: String) async {
    for sender in senders { await sender.stop(ring: ringId) }
  }

  /// Nothing is sent any more to what a device of a person was.
  public func stop(device: String, of person: String) async {
    for sender in senders { await sender.stop(device: PushDevice.Name(person: person, id: device)) }
  }

  public func reports() async -> [PushReport] {
    var reports: [PushReport] = []
    for sender in senders { reports.append(await sender.state) }
    return reports.sorted { $0.service < $1.service }
  }

  /// Nothing more is sent, and nothing more said.
  public func stop() async {
    for sender in senders { await sender.stop() }
  }

  private var senders: [PushSender] { Array(apns.values) + (webhook.map { [$0] } ?? []) }

  private func sender(for device: PushDevice) -> PushSender? {
    device.platform == .webhook ? webhook : apns[device.environment]
  }

  private func fail(_ notice: PushNotice, _ device: PushDevice, _ reason: String) {
    report(
      PushOutcome(
        device: device, ringId: notice.ringId, isRing: notice.ring != nil, state: .failed, reason: reason,
        at: clocks.wall(), tries: 0))
  }

  private func job(_ notice: PushNotice, _ device: PushDevice, _ payload: [UInt8]) -> PushJob {
    let (now, wall) = (clocks.instant(), clocks.wall())
    let expiration: Int64
    let deadline: Instant
    if let ring = notice.ring {
      // Whole seconds, and not before its end.
      expiration = (ring.expiresAt.milliseconds &+ 999) / 1_000
      deadline = now + .milliseconds(min(ring.expiresAt.milliseconds &- wall.milliseconds, 86_400_000))
    } else {
      expiration = device.platform == .apnsAlert ? wall.milliseconds / 1_000 + Self.missedSeconds : 0
      deadline = now + Self.endPatience
    }
    return PushJob(
      id: Self.identifier(), device: device, ringId: notice.ringId, isRing: notice.ring != nil,
      payload: payload, expiration: expiration, deadline: deadline)
  }

  /// A UUID that is drawn (RFC 9562 §5.4).
  private static func identifier() -> String {
    var bytes = Random.bytes(16)
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    var text = ""
    for (place, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(place) { text += "-" }
      text += String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }
    return text
  }
}
