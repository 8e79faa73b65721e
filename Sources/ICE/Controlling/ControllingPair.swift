internal import Model
internal import Wire

/// A local address with a remote candidate, under one generation of credentials (RFC 8445 §6.1.2.6).
///
///     waiting ──paced──▶ inProgress ──answered──▶ valid ──no consent for 30 s──▶ failed
///        ▲                    └──seven checks, no answer──▶ failed
///        └──────────── the far end's check (triggered) ───────┘
struct ControllingPair: Sendable {
  enum State: UInt8, Sendable {
    case waiting = 0
    case inProgress = 1
    case valid = 2
    case failed = 3
  }

  var path: NetworkPath
  let generation: UInt32
  /// Larger for the better of our own addresses.
  var localPreference: UInt16
  let remotePriority: UInt32
  var state = State.waiting
  /// Being repeated until it is answered; a valid pair has one while it is nominated.
  var check: RetransmittedCheck?
  /// What `check` said.
  var contents: CheckContents?
  /// `check` nominates because this very pair is wanted, not because every check does.
  var isChosen = false
  /// Orders the checks that don't wait for their priority; 0 for those that do.
  var trigger: UInt64 = 0
  /// The next check is to carry USE-CANDIDATE.
  var wantsNomination = false
  /// The far end's nomination, when it is the controlling one: larger for a later one, 0 for none.
  var nominationSerial: UInt64 = 0
  /// Meaningful while valid.
  var consent: Consent
  /// In nanoseconds; 0 before the first answer whose request is certain.
  var roundTrip: Int64 = 0

  init(_ path: NetworkPath, generation: UInt32, localPreference: UInt16, remotePriority: UInt32) {
    self.path = path
    self.generation = generation
    self.localPreference = localPreference
    self.remotePriority = remotePriority
    consent = Consent(grantedAt: Instant(nanoseconds: 0), nextCheck: .never)
  }

  func priority(_ role: ICERole) -> UInt64 {
    let local = ICEPriority.candidate(.host, localPreference: localPreference)
    return role == .controlling
      ? ICEPriority.pair(controlling: local, controlled: remotePriority)
      : ICEPriority.pair(controlling: remotePriority, controlled: local)
  }

  /// Whether an answer with this transaction would be one to us.
  func expects(_ transaction: STUNTransactionID) -> Bool {
    if let check, check.transmissions > 0, check.transaction == transaction { return true }
    return state == .valid && consent.expects(transaction)
  }

  /// Back to the start, on another address of ours.
  mutating func move(to local: SocketAddress, preference: UInt16) {
    path.local = local
    localPreference = preference
    state = .waiting
    check = nil
    contents = nil
    roundTrip = 0
  }
}

extension ControllingPair {
  func encode(into writer: inout StateWriter) {
    writer.write(path)
    writer.write(generation)
    writer.write(localPreference)
    writer.write(remotePriority)
    writer.write(state.rawValue)
    writer.write(check != nil)
    check?.encode(into: &writer)
    writer.write(contents != nil)
    contents?.encode(into: &writer)
    writer.write(isChosen)
    writer.write(trigger)
    writer.write(wantsNomination)
    writer.write(nominationSerial)
    consent.encode(into: &writer)
    writer.write(roundTrip)
  }

  init(from reader: inout StateReader) throws(StateError) {
    path = try reader.path()
    generation = try reader.integer()
    localPreference = try reader.integer()
    remotePriority = try reader.integer()
    guard let state = State(rawValue: try reader.integer()) else {
      throw .invalid(field: "pair state", offset: reader.offset - 1)
    }
    self.state = state
    check = try reader.bool() ? try RetransmittedCheck(from: &reader) : nil
    contents = try reader.bool() ? try CheckContents(from: &reader) : nil
    isChosen = try reader.bool()
    trigger = try reader.integer()
    wantsNomination = try reader.bool()
    nominationSerial = try reader.integer()
    consent = try Consent(from: &reader)
    roundTrip = try reader.integer()
  }
}

extension CheckContents {
  func encode(into writer: inout StateWriter) {
    writer.write(role.rawValue)
    writer.write(tieBreaker)
    writer.write(priority)
    writer.write(useCandidate)
    writer.write(nomination)
  }

  init(from reader: inout StateReader) throws(StateError) {
    guard let role = ICERole(rawValue: try reader.integer()) else {
      throw .invalid(field: "role", offset: reader.offset - 1)
    }
    self.role = role
    tieBreaker = try reader.integer()
    priority = try reader.integer()
    useCandidate = try reader.bool()
    nomination = try reader.integer()
  }
}
