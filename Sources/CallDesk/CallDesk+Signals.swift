public import Calls
internal import Crypto
internal import FoundationEssentials
internal import Storage

#if PLANTED_DEFECTS
  internal import Model
#endif

/// What people of a call send each other: the server carries it and reads nothing but its clear part.
extension CallDesk {
  public struct Signal: Hashable, Sendable {
    public var id: CallUUID
    public var to: PersonID
    /// `offer`, `answer`, `candidates`, `status`, `end`, `reject`, or the app's own: at most 64 bytes.
    public var kind: String
    /// Base64, as it came.
    public var payload: String
    /// What of it the server may read, as JSON of an object; at most 1 KiB.
    public var clear: String?
    /// Of a `status` signal: its clear part says that the media stands.
    public var saysConnected = false

    public init(id: CallUUID, to person: PersonID, kind: String, payload: String, clear: String? = nil) {
      self.id = id
      to = person
      self.kind = kind
      self.payload = payload
      self.clear = clear
    }

    fileprivate var digest: [UInt8] {
      var bytes: [UInt8] = []
      for text in [id.text, to.text, kind, payload, clear ?? "", clear == nil ? "" : "c"] {
        bytes += Array("\(text.utf8.count):".utf8)
        bytes += Array(text.utf8)
      }
      return SHA256.digest(bytes)
    }
  }

  /// The body of `call.signal`.
  public struct SignalBody: Hashable, Sendable, Codable {
    public var id: CallUUID
    public var sender: PersonID
    public var device: DeviceID?
    /// Among those from this sender to this recipient in this call, from 1.
    public var number: Int64
    public var kind: String
    public var payload: String
    public var clear: String?
  }

  /// Carries a signal from one participant of a call to another. Both have to be invited or active. All of the recipient's devices get
  /// it until one of them joins; from then on that device alone does.
  /// - Returns: its number.
  /// - Throws: `notFound`, `notAllowed`, `callEnded`, `idTaken`, `tooLarge`, `tooMany`, `storeUnavailable`.
  public func signal(_ signal: Signal, in id: CallUUID, by caller: Caller) async throws(CallProblem) -> Int64
  {
    // Base64 has four characters for three bytes.
    guard signal.payload.utf8.count <= (terms.payload + 2) / 3 * 4 else { throw .tooLarge("payload") }
    return try await decide(bytes: signal.payload.utf8.count + 4_096) {
      [self] transaction, aftermath, now throws(StoreError) in
      try send(signal, in: id, by: caller, at: now, &aftermath, transaction)
    }
  }

  private func send(
    _ signal: Signal, in id: CallUUID, by caller: Caller, at now: CallTime, _ aftermath: inout Aftermath,
    _ transaction: borrowing Transaction
  ) throws(StoreError) -> Result<Int64, CallProblem> {
    let (request, digest) = ("signal \(id.text) \(signal.id.text)", signal.digest)
    switch try keptAnswer(to: request, content: digest, by: caller.person, transaction) {
    case .other: return .failure(.idTaken)
    case .same(let body): return .success(Int64(String(decoding: body, as: UTF8.self)) ?? 0)
    case .no: break
    }
    // Time first: one whose ring is over is sent nothing.
    let found = try apply(.time, to: id, by: caller.person, at: now, &aftermath, transaction)
    guard case .success(let row) = found else { return found.map { _ in 0 } }
    var call = row.state
    // What ends a call may be said a little behind its end.
    let isLate = call.end.map { now.wall - $0.at < terms.afterCall } ?? false
    guard !call.isEnded || isLate else { return .failure(.callEnded) }
    if call.hasRemoved(caller.person) { return .failure(.removed) }
    guard let sender = call[caller.person], sender.isOrWasThere(in: call) else {
      return .failure(.notAllowed)
    }
    guard let recipient = call[signal.to], signal.to != caller.person, recipient.isOrWasThere(in: call) else {
      return .failure(.notFound)
    }
    // Until one has joined it is enough that any device hears, and from then on that one has to.
    let far = heard.number(of: signal.to, by: recipient.session?.device)
    // Who has blocked the caller hears nothing, and the sender no difference.
    let waiting =
      try recipient.isHidden
      ? unheardSignals(for: signal.to, in: id, transaction)
      : EventRecords.signals(for: signal.to, in: id, after: far, transaction)
    // What was sent a moment ago waits in any case: by how fast it is read a sender would know whether it is.
    let recent = unheard.recent.sum(for: signal.to, in: id, at: now.steady)
    guard max(waiting.count, recent.count) < Int64(terms.signals),
      max(waiting.bytes, recent.bytes) + Int64(signal.payload.utf8.count) <= Int64(terms.signalBytes)
    else { return .failure(.tooMany(wait: RecentSignals.span)) }
    // What was refused has said nothing.
    if signal.saysConnected {
      let event = CallEvent.saidConnected(caller.person, caller.device)
      let said = try apply(event, to: id, by: caller.person, at: now, &aftermath, transaction)
      guard case .success(let row) = said else { return said.map { _ in 0 } }
      call = row.state
    }
    let number = try SignalRecords.next(in: id, from: caller.person, to: signal.to, transaction)
    let body = SignalBody(
      id: signal.id, sender: caller.person, device: sender.device(of: caller), number: number,
      kind: signal.kind, payload: signal.payload, clear: signal.clear)
    let size = EventRecords.encoded(body).count
    try SignalRecords.count(bytes: size, in: id, from: caller.person, to: signal.to, transaction)
    unheard.recent.note(bytes: size, for: signal.to, in: id, at: now.steady)
    if !recipient.isHidden {
      try deliver(body, to: recipient, of: call, at: now, &aftermath, transaction)
      try forgetHeard(by: signal.to, upTo: far, in: id, from: caller.person, transaction)
    }
    try keepAnswer(
      Array("\(number)".utf8), to: request, content: digest, by: caller.person, at: now, transaction)
    return .success(number)
  }

  /// What would wait for one who has blocked the caller, if it heard what it is sent by what it reads.
  private func unheardSignals(
    for person: PersonID, in call: CallUUID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> (count: Int64, bytes: Int64) {
    let sent = try SignalRecords.sent(to: person, in: call, transaction)
    let readers = outlet.readers(of: person)
    let waiting = unheard.signals.waiting(
      of: UnheardSignals.Sum(count: sent.count, bytes: sent.bytes), for: person, in: call,
      word: heard.word(of: person), isReading: readers.isAnyUnnamed || !readers.devices.isEmpty)
    return (waiting.count, waiting.bytes)
  }

  /// Of what a person has heard in a call the oldest goes, where it was sent more there than is kept.
  /// - Parameters:
  ///   - number: how far it has heard.
  ///   - sender: the person who sent the signals; the count of what remains is kept for each sender.
  private func forgetHeard(
    by person: PersonID, upTo number: Int64, in call: CallUUID, from sender: PersonID,
    _ transaction: borrowing Transaction
  ) throws(StoreError) {
    guard try SignalRecords.sent(to: person, in: call, transaction).bytes > terms.signalBytesKept else {
      return
    }
    // Half of it, so that they are looked through now and then alone.
    let left = try EventRecords.dropSignals(
      for: person, in: call, upTo: number, beyond: terms.signalBytesKept / 2, transaction)
    try SignalRecords.recount(bytes: left, in: call, from: sender, to: person, transaction)
  }

  private func deliver(
    _ body: SignalBody, to recipient: CallPerson, of call: CallState, at now: CallTime,
    _ aftermath: inout Aftermath, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    try tell(
      recipient.id, .signal, of: call, to: recipient.session?.device, body, at: now, &aftermath, transaction)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.signalToAll) {
        for other in call.people where other.id != recipient.id {
          try tell(other.id, .signal, of: call, body, at: now, &aftermath, transaction)
        }
      }
    #endif
  }
}

extension CallPerson {
  /// By which device it says something: by the one that is in the call, whichever of its names that has.
  fileprivate func device(of caller: Caller) -> DeviceID? {
    guard let session else { return caller.device }
    guard let device = caller.device, !session.isBy(device) else { return session.device }
    return device
  }

  /// Whether it is invited or active, or was so as the call ended.
  fileprivate func isOrWasThere(in call: CallState) -> Bool {
    guard let reason = leaveReason else { return true }
    return reason != .removed && reason != .busy && call.end.map { $0.at == leftAt } ?? false
  }
}
