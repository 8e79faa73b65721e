public import Model
public import Wire

/// When the server checks for itself that a path leads to the peer.
public enum ICEVerification: UInt8, Sendable {
  /// Every pair.
  case always = 0
  /// Every pair but the first under each credentials: for a client that answers no checks, as none has to
  /// from a lite agent. It can't move to another address then, and its own checks count as consent.
  case onChange = 1
}

/// The server's side of ICE for one peer: announced as lite (RFC 8445 §2.5), always controlled, one
/// component.
///
/// It gathers nothing and starts nothing. Beyond what lite demands it sends a check of its own on each new
/// pair, and before the answer nothing but STUN goes there, at most three times the bytes that came: a
/// participant who forges source addresses can't aim a room's traffic at a victim. A request counts for
/// nothing before its fingerprint and integrity are found right, and an invalid one gets no reply.
///
///     request ─▶ valid? ─▶ answered ─▶ pair known? ─no─▶ own check ─answer─▶ validated
///                                         └─yes, nominated and validated─▶ selected
///
/// A peer that moved without another nomination is followed once media comes from there, or the selected pair gives no
/// answer (`PathChallenge`).
///
/// The agent does nothing itself: datagrams to send are in `ICEOutput`, `poll` is to be called at `deadline`.
public struct ServerAgent: ~Copyable {
  var credentials: CredentialHistory
  let verification: ICEVerification
  var pairs = ServerPairTable()
  /// Keeps the transport in its place as well, which has this in it.
  private let inPlace = InPlace()
  /// 0 until the first check is sent.
  var tieBreaker: UInt64 = 0
  var nominations = Nominations()
  /// While it is asked whether the selected pair is still the peer's.
  var challenge: PathChallenge?
  /// The generation whose first pair was accepted without a check of ours.
  var trustedGeneration: UInt32?
  /// Limits refusals, which belong to no pair.
  var refusals: RateLimit
  let startedAt: Instant
  var wasEstablished = false
  var hasFailed = false
  /// When the last valid STUN message came from the peer, on any path; at first, when the agent was made.
  public internal(set) var lastHeard: Instant
  /// The path in use: validated and the last nominated.
  public internal(set) var selected: NetworkPath?
  public internal(set) var drops = ICEDropCounters()

  public init(local: ICECredentials, verify: ICEVerification = .always, now: Instant) {
    credentials = CredentialHistory(local: local, remote: nil, mayCross: true)
    verification = verify
    refusals = RateLimit(rate: 10, burst: 10)
    startedAt = now
    lastHeard = now
  }

  /// Our credentials since the last restart.
  public var local: ICECredentials { credentials.current.local }

  /// Our fragments under which checks are valid: since the last restart and, until a pair under that one is used,
  /// those in use.
  public var servedFragments: [String] { credentials.servedFragments }

  /// Addresses that the peer was heard from, eight at most.
  public var pairCount: Int { pairs.count }

  /// The peer's credentials since the last restart; nil before its description.
  public var remote: ICECredentials? { credentials.current.remote }

  /// The peer's credentials, from its description. Pairs that wait for them are checked at the next `poll`.
  public mutating func setRemote(_ remote: ICECredentials) {
    if credentials.current.remote != remote { credentials.setRemote(remote) }
  }

  /// An ICE restart (RFC 8445 §9). The old credentials go on serving until a pair under the new ones is
  /// validated and nominated; then they and their pairs are gone.
  public mutating func restart(local: ICECredentials, remote: ICECredentials) {
    let used = pairs.selected.map { pairs[$0].generation }
    nominations.restart(isUsedNewest: used.map { credentials.isOfNewestRemote($0) } ?? true)
    credentials.restart(local: local, remote: remote, used: used)
    removeUnserved()
  }

  mutating func removeUnserved() {
    for index in (0..<pairs.count).reversed() where !credentials.isServed(pairs[index].generation) {
      pairs.remove(at: index)
    }
  }

  /// Whether the path is proven to lead to the peer, so that DTLS may be taken from it and sent to it.
  public func isValidated(_ path: NetworkPath) -> Bool {
    if selected == path { return true }
    return pairs.first { $0.isValidated && $0.path == path } != nil
  }

  /// Whether an answer to a check of ours came on the path: more than a check alone, whose address anybody may forge.
  public func isProven(_ path: NetworkPath) -> Bool {
    pairs.first { $0.isValidated && !$0.isTrusted && $0.path == path } != nil
  }

  /// Whether an answer with this transaction would be one to us.
  public func expects(_ transaction: STUNTransactionID) -> Bool {
    pairs.first { $0.expects(transaction) } != nil
  }

  /// Whether the peer's check came on the path but isn't confirmed by an answer to ours: what follows on it
  /// may be held for a moment.
  public func hasValidCheck(_ path: NetworkPath) -> Bool {
    !isValidated(path) && pairs.first { $0.isVerifying && $0.path == path } != nil
  }

  /// From the last answer on the selected path; nil before the first.
  public var roundTripTime: Duration? {
    guard let selected = pairs.selected, pairs[selected].roundTrip > 0 else { return nil }
    return .nanoseconds(pairs[selected].roundTrip)
  }

  /// When `poll` is due.
  public var deadline: Instant {
    var deadline = wasEstablished || hasFailed ? Instant.never : establishmentEnd
    if let challenge { deadline = min(deadline, challenge.next) }
    for index in 0..<pairs.count {
      let pair = pairs[index]
      if pair.isValidated {
        deadline = min(deadline, pair.consent.deadline)
      } else if let end = pair.dormantUntil {
        deadline = min(deadline, end)
      } else if credentials.hasRemote(pair.generation) {
        deadline = min(deadline, pair.check.next)
      }
    }
    return deadline
  }

  var establishmentEnd: Instant { startedAt.advanced(byNanoseconds: ICETimers.establishment) }
}
