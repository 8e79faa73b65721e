public import CallDesk
internal import Calls
internal import KeyDirectory
public import Logging
internal import Model
public import Push
internal import Signalling
internal import Synchronization

/// Wakes the devices of those who are rung, and writes down what became of it.
///
///     decided ──▶ work ──▶ PushDesk ──▶ outcomes ──▶ the store
///
/// Two tasks, one each way, so that neither the store nor a push service is waited for where calls are decided. A ring's end goes to
/// those of its devices alone that took the push and have opened no event stream since: the others hear of it there.
public final class CallPushes: Sendable {
  public struct Terms: Sendable {
    /// Where clients reach the server; nil: pushes don't say.
    public var url: String?
    public var showsCallerNames = true
    /// Secrets by API key, for the tokens of those who are rung.
    public var keys: [String: String]
    /// Seconds since 1970.
    public var now: @Sendable () -> Int

    public init(keys: [String: String], now: @escaping @Sendable () -> Int) {
      self.keys = keys
      self.now = now
    }
  }

  private enum Work: Sendable {
    case ring(Aftermath.Ring)
    /// - Parameter listening: devices that read the person's events at that moment.
    case ended(Aftermath.RingEnded, listening: Set<DeviceID>)
  }

  /// Rings and ends that wait, and outcomes: each costs some hundred bytes. Beyond, the oldest are let go, counted.
  private static let capacity = 16_384
  /// Outcomes of one transaction.
  private static let group = 64

  private let terms: Terms
  private let tokens: CallTokens
  private let log: Log
  private let book: Mutex<RingBook>
  private let push: PushDesk
  private let work: AsyncStream<Work>.Continuation
  private let outcomes: AsyncStream<PushOutcome>.Continuation
  private let ordered: AsyncStream<Work>
  private let said: AsyncStream<PushOutcome>
  private let lost = Atomic<UInt64>(0)

  public init(
    to services: PushDesk.Services, terms: Terms, texts: PushTexts = PushTexts(), clocks: PushClocks, log: Log
  ) {
    self.terms = terms
    self.log = log
    tokens = CallTokens(keys: terms.keys, now: terms.now)
    book = Mutex(RingBook())
    (ordered, work) = AsyncStream.makeStream(of: Work.self, bufferingPolicy: .bufferingNewest(Self.capacity))
    let (said, outcomes) = AsyncStream.makeStream(
      of: PushOutcome.self, bufferingPolicy: .bufferingNewest(Self.capacity))
    (self.said, self.outcomes) = (said, outcomes)
    push = PushDesk(services, texts: texts, clocks: clocks, log: log) { outcomes.yield($0) }
  }

  /// What was decided is carried out in the order in which it is given here.
  /// - Parameter feeds: who reads events.
  func perform(_ aftermath: Aftermath, _ feeds: CallFeeds) {
    for ring in aftermath.rings where !ring.devices.isEmpty { add(.ring(ring)) }
    for end in aftermath.ringsEnded { add(.ended(end, listening: feeds.devices(of: end.person))) }
  }

  private func add(_ item: Work) {
    if case .dropped = work.yield(item) { lost.add(1, ordering: .relaxed) }
  }

  /// A device reads the person's events: it hears of ends there.
  func noteStream(of person: PersonID, _ device: DeviceID) {
    book.withLock { $0.noteStream(of: person, device) }
  }

  /// Sends pushes and writes down what became of them, until its task is cancelled.
  public func run(_ desk: CallDesk) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { [self] in for await item in ordered { await carry(item) } }
      group.addTask { [self] in await listen(desk) }
      await group.waitForAll()
    }
  }

  public func stop() async {
    work.finish()
    outcomes.finish()
    await push.stop()
  }

  public func reports() async -> [PushReport] { await push.reports() }

  /// Rings and ends that were let go, since too many waited.
  public var lostCount: UInt64 { lost.load(ordering: .relaxed) }

  // MARK: - What is sent

  private func carry(_ item: Work) async {
    switch item {
    case .ring(let ring):
      let known = RingBook.Ring(
        id: ring.ring.id, person: ring.person, call: ring.call.id, caller: ring.ring.from,
        callerName: terms.showsCallerNames ? ring.callerName : nil, media: ring.call.media,
        devices: ring.devices,
        until: ring.expiresAt)
      let isWanted = book.withLock { $0.begin(known, now: terms.now()) }
      guard isWanted else { return }
      await push.deliver(notice(ring), to: ring.devices.map { PushDevice($0, of: ring.person) })
    case .ended(let end, let listening):
      let found = book.withLock {
        $0.end(
          end.ring, of: end.person, in: end.call, except: end.device, listening: listening, now: terms.now())
      }
      guard let found else { return await push.stop(ringId: end.ring.text) }
      let notice = PushNotice(
        ringId: end.ring.text, callId: end.call.text, callerId: found.caller.text,
        callerName: found.callerName,
        media: found.media.rawValue, kind: .ended(reason: end.reason.rawValue))
      await push.deliver(notice, to: found.devices)
      // For those who hear of it by their stream what wasn't sent yet isn't.
      if found.devices.isEmpty { await push.stop(ringId: end.ring.text) }
    }
  }

  private func notice(_ ring: Aftermath.Ring) -> PushNotice {
    let token = ring.room.flatMap { room in
      tokens.token(
        ringing: ring.person, until: ring.expiresAt, of: ring.call.id, room: room, apiKey: ring.apiKey)
    }
    let name = terms.showsCallerNames ? ring.callerName : nil
    var pushed = PushNotice.Ring(
      room: ring.room, token: token, url: token == nil ? nil : terms.url,
      expiresAt: WallTime(milliseconds: ring.expiresAt))
    for (device, key) in ring.keys {
      pushed.keys[device.text] = [
        "keyId": key.keyID.text, "ciphertext": String(decoding: Base64.encode(key.ciphertext), as: UTF8.self),
      ]
      (pushed.keyFrom, pushed.keyIndex) = (key.from.text, key.index)
    }
    pushed.head = ring.head.map { PushNotice.Ring.Head(size: $0.size, root: $0.root) }
    return PushNotice(
      ringId: ring.ring.id.text, callId: ring.call.id.text, callerId: ring.ring.from.text, callerName: name,
      media: ring.call.media.rawValue,
      kind: .ring(pushed))
  }

  // MARK: - What became of it

  private func listen(_ desk: CallDesk) async {
    var group: [CallDelivery] = []
    for await outcome in said {
      guard let delivery = book.withLock({ $0.note(outcome) }) else { continue }
      if outcome.state == .removed {
        try? await desk.dropToken(
          of: delivery.device, of: delivery.person, registeredBefore: outcome.device.registeredAt.milliseconds
        )
      }
      group.append(delivery)
      // One by one while there are few; the store is a group's worth behind at most.
      do throws(CallProblem) {
        try await desk.keep(group)
        group = []
      } catch {
        if group.count >= Self.group {
          log.warning("what became of pushes could not be stored", ["lost": "\(group.count)"])
          group = []
        }
      }
    }
  }
}

extension PushDevice {
  init(_ device: Device, of person: PersonID) {
    let platform: Platform =
      switch device.platform {
      // The system's call screen isn't to be used: an alert takes its place.
      case .apnsVoIP: device.screen == .app ? .apnsAlert : .apnsVoIP
      case .apnsAlert: .apnsAlert
      case .webhook: .webhook
      }
    self.init(
      person: person.text, id: device.id.text, platform: platform,
      environment: device.environment == .sandbox ? .sandbox : .production, token: device.token,
      topic: device.topic, registeredAt: WallTime(milliseconds: device.registeredAt))
  }
}
