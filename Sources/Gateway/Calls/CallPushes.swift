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
/// those of its devices alone that may have the ring, and that neither read the person's event stream as it is to be sent nor were given the
/// end by one before: the others hear of it there. What an alert shows is replaced all the same.
public final class CallPushes: Sendable {
  public struct Terms: Sendable {
    /// Where clients reach the server; nil: pushes don't say.
    public var url: String?
    /// If not, pushes have neither the caller's name nor, in the token, that of the person who is rung.
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
    /// One of the process before that goes on, to devices that it hadn't come to.
    case goOn(Aftermath.Ring, to: [Device])
    /// - Parameter feeds: who reads events; nil: no one does.
    case ended(Aftermath.RingEnded, CallFeeds?)
    case gone(DeviceID, of: PersonID)
  }

  /// What became of a push, and what is written down of it.
  private struct Said: Sendable {
    /// nil: it is time to try once more what could not be written down.
    let outcome: PushOutcome?
    var delivery: CallDelivery?
  }

  /// For all threads that push services answer on.
  private final class Ledger: Sendable { let book = Mutex(RingBook()) }

  /// Rings and ends that wait, and outcomes: each costs some hundred bytes. Beyond, the oldest are let go, counted.
  private static let capacity = 16_384
  /// Outcomes of one transaction.
  private static let group = 64
  /// Before outcomes that could not be written down are tried once more.
  private static let pause = Duration.seconds(1)

  private let terms: Terms
  private let tokens: CallTokens
  private let log: Log
  private let ledger: Ledger
  private let push: PushDesk
  private let work: AsyncStream<Work>.Continuation
  private let outcomes: AsyncStream<Said>.Continuation
  private let ordered: AsyncStream<Work>
  private let said: AsyncStream<Said>
  private let lost = Atomic<UInt64>(0)

  public init(
    to services: PushDesk.Services, terms: Terms, texts: PushTexts = PushTexts(), clocks: PushClocks, log: Log
  ) {
    self.terms = terms
    self.log = log
    tokens = CallTokens(keys: terms.keys, now: terms.now)
    let ledger = Ledger()
    self.ledger = ledger
    (ordered, work) = AsyncStream.makeStream(of: Work.self, bufferingPolicy: .bufferingNewest(Self.capacity))
    let (said, outcomes) = AsyncStream.makeStream(
      of: Said.self, bufferingPolicy: .bufferingNewest(Self.capacity))
    (self.said, self.outcomes) = (said, outcomes)
    push = PushDesk(services, texts: texts, clocks: clocks, log: log) { outcome in
      // At once: the end of its ring may follow.
      let delivery = ledger.book.withLock { $0.note(outcome) }
      outcomes.yield(Said(outcome: outcome, delivery: delivery))
    }
  }

  /// What was decided is carried out in the order in which it is given here.
  /// - Parameter feeds: who reads events.
  func perform(_ aftermath: Aftermath, _ feeds: CallFeeds) {
    for ring in aftermath.rings where !ring.devices.isEmpty { add(.ring(ring)) }
    for end in aftermath.ringsEnded { add(.ended(end, feeds)) }
    for (person, device) in aftermath.devicesGone { add(.gone(device, of: person)) }
  }

  /// Rings of the process before go on: devices that it hadn't come to are woken now, and those that have it hear of its end. Before
  /// anything is performed.
  /// - Parameter ended: those whose ends it may not have pushed.
  public func restore(_ rings: [CallDesk.RunningRing], ended: [CallDesk.EndedRing] = []) {
    for running in rings where !running.ring.devices.isEmpty {
      let ring = running.ring
      ledger.book.withLock { $0.restore(known(ring), unreached: running.failed, now: terms.now()) }
      let missing = ring.devices.filter { !running.taken.contains($0.id) && !running.failed.contains($0.id) }
      if !missing.isEmpty { add(.goOn(ring, to: missing)) }
    }
    for ring in ended {
      ledger.book.withLock { $0.restore(known(ring), unreached: [], now: terms.now()) }
      add(.ended(ring.end, nil))
    }
  }

  private func add(_ item: Work) {
    if case .dropped = work.yield(item) { lost.add(1, ordering: .relaxed) }
  }

  /// A stream of the person's events has given the end of a ring to a device.
  func noteEnd(of ring: CallUUID, givenTo device: DeviceID, of person: PersonID) {
    ledger.book.withLock { $0.noteEnd(of: ring, givenTo: device, of: person) }
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
      let isWanted = ledger.book.withLock { $0.begin(known(ring), now: terms.now()) }
      if isWanted { await wake(ring.devices, ring) }
    case .goOn(let ring, let devices):
      let isWanted = ledger.book.withLock { $0.goesOn(ring.ring.id) }
      if isWanted { await wake(devices, ring) }
    case .ended(let end, let feeds):
      // Those that read now: one whose stream has broken off since the end was decided may not have heard of it.
      await finish(end, feeds?.readers(of: end.person).devices ?? [])
    case .gone(let device, let person):
      ledger.book.withLock { $0.forget(device, of: person) }
      await push.stop(device: device.text, of: person.text)
    }
  }

  private func known(_ ring: Aftermath.Ring) -> RingBook.Ring {
    RingBook.Ring(
      id: ring.ring.id, person: ring.person, call: ring.call.id, caller: ring.ring.from,
      callerName: terms.showsCallerNames ? ring.callerName : nil, media: ring.call.media,
      devices: ring.devices,
      until: ring.expiresAt)
  }

  /// It is remembered for as long behind now as it would be behind its end.
  private func known(_ ring: CallDesk.EndedRing) -> RingBook.Ring {
    RingBook.Ring(
      id: ring.end.ring, person: ring.end.person, call: ring.end.call, caller: ring.caller,
      callerName: terms.showsCallerNames ? ring.callerName : nil, media: ring.media, devices: ring.devices,
      until: max(ring.until, Int64(terms.now()) * 1_000))
  }

  private func wake(_ devices: [Device], _ ring: Aftermath.Ring) async {
    await push.deliver(notice(ring, for: devices), to: devices.map { PushDevice($0, of: ring.person) })
  }

  private func finish(_ end: Aftermath.RingEnded, _ listening: Set<DeviceID>) async {
    let found = ledger.book.withLock {
      $0.end(
        end.ring, of: end.person, in: end.call, except: end.device, listening: listening, now: terms.now())
    }
    guard let found else { return await push.stop(ringId: end.ring.text) }
    let notice = PushNotice(
      ringId: end.ring.text, callId: end.call.text, callerId: found.caller.text,
      callerName: found.callerName,
      media: found.media.rawValue, kind: .ended(reason: end.reason.rawValue))
    await push.deliver(notice, to: found.devices) { [ledger] device in
      ledger.book.withLock { $0.mayHave(end.ring, DeviceID(device.id)) }
    }
  }

  private func notice(_ ring: Aftermath.Ring, for devices: [Device]) -> PushNotice {
    var pushed = PushNotice.Ring(
      room: ring.room, expiresAt: WallTime(milliseconds: ring.expiresAt))
    if let room = ring.room {
      for device in devices {
        pushed.tokens[device.id.text] = tokens.token(
          ringing: ring.person, terms.showsCallerNames ? ring.personName : nil, device.id,
          until: ring.expiresAt, of: ring.call.id, room: room, apiKey: ring.apiKey)
      }
    }
    pushed.url = pushed.tokens.isEmpty ? nil : terms.url
    for (device, key) in ring.keys {
      pushed.keys[device.text] = [
        "keyId": key.keyID.text, "ciphertext": String(decoding: Base64.encode(key.ciphertext), as: UTF8.self),
      ]
      (pushed.keyFrom, pushed.keyIndex) = (key.from.text, key.index)
    }
    pushed.head = ring.head.map { PushNotice.Ring.Head(size: $0.size, root: $0.root) }
    pushed.isBusy = ring.ring.isBusy
    return PushNotice(
      ringId: ring.ring.id.text, callId: ring.call.id.text, callerId: ring.ring.from.text,
      callerName: terms.showsCallerNames ? ring.callerName : nil, media: ring.call.media.rawValue,
      kind: .ring(pushed))
  }

  // MARK: - What became of it

  private func listen(_ desk: CallDesk) async {
    var (group, isTimed) = ([CallDelivery](), false)
    for await item in said {
      if let outcome = item.outcome {
        await note(outcome, desk)
        guard let delivery = item.delivery else { continue }
        group.append(delivery)
      } else {
        isTimed = false
      }
      // One by one while there are few; the store is a group's worth behind at most.
      do throws(CallProblem) {
        if !group.isEmpty { try await desk.keep(group) }
        group = []
      } catch {
        if group.count >= Self.group {
          log.warning("what became of pushes could not be stored", ["lost": "\(group.count)"])
          group = []
        }
        // Also where nothing more is said.
        if !isTimed { tryAgain() }
        isTimed = true
      }
    }
  }

  private func note(_ outcome: PushOutcome, _ desk: CallDesk) async {
    guard outcome.state == .removed else { return }
    let device = outcome.device
    try? await desk.dropToken(
      of: DeviceID(device.id), of: PersonID(device.person),
      registeredBefore: device.registeredAt.milliseconds)
  }

  private func tryAgain() {
    Task { [outcomes] in
      try? await Task.sleep(for: Self.pause)
      outcomes.yield(Said(outcome: nil))
    }
  }
}

extension Device {
  /// Whether it shows an alert: it has no other push, or the system's call screen isn't to be used.
  var isAlerted: Bool {
    switch platform {
    case .apnsVoIP: screen == .app
    case .apnsAlert: true
    case .webhook: false
    }
  }
}

extension PushDevice {
  init(_ device: Device, of person: PersonID) {
    let platform: Platform =
      switch device.platform {
      case .apnsVoIP, .apnsAlert: device.isAlerted ? .apnsAlert : .apnsVoIP
      case .webhook: .webhook
      }
    self.init(
      person: person.text, id: device.id.text, platform: platform,
      environment: device.environment == .sandbox ? .sandbox : .production, token: device.token,
      topic: device.topic, registeredAt: WallTime(milliseconds: device.registeredAt))
  }
}
