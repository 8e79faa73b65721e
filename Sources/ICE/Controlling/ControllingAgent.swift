public import Model
internal import Wire

/// A full ICE agent with one component that starts as the controlling side (RFC 8445): what a client is to
/// the server, and a synthetic peer in tests and load.
///
/// Local addresses are given, remote candidates are added whenever they become known. Checks leave at a
/// steady pace, the best pair first; the best that works is nominated. The agent does nothing itself:
/// datagrams to send are in `ICEOutput`, `poll` is to be called at `deadline`.
public struct ControllingAgent: ~Copyable {
  public struct Configuration: Equatable, Sendable {
    /// Between two new checks (RFC 8445 §14.2: Ta).
    public var pace: Duration = .milliseconds(50)
    /// The least wait before a check is repeated (RFC 8445 §14.3: RTO); it doubles from there.
    public var retransmission: Duration = .milliseconds(500)
    /// How long after the first valid pair a better one is waited for before nominating; ignored if
    /// aggressive.
    public var patience: Duration = .milliseconds(300)
    /// Every check nominates, and the best pair that works is used (RFC 5245 §8.1.1.2).
    public var isAggressive = false
    /// Nominations carry a rising NOMINATION value, so that their order survives reordering.
    public var sendsNominationValue = false
    /// Whether a path is nominated again when a NAT has given it another address; Firefox doesn't.
    public var nominatesAgain = true

    public init() {}
  }

  /// Pairs at once (RFC 8445 §6.1.2.5).
  public static let pairLimit = 100
  public static let localLimit = 16
  public static let remoteLimit = 100

  struct LocalAddress: Equatable, Sendable {
    var address: SocketAddress
    var preference: UInt16
  }
  struct RemoteCandidate: Equatable, Sendable {
    var address: SocketAddress
    var priority: UInt32
  }

  /// What is counted, up or down, for the agent's life.
  struct Serials: Equatable, Sendable {
    /// Of the last check that was triggered, and of the last nomination that has a value.
    var trigger: UInt64 = 0
    var nomination: UInt32 = 0
    /// Of the next address of ours.
    var localPreference = UInt16.max
  }

  let configuration: Configuration
  var credentials: CredentialHistory
  public internal(set) var role = ICERole.controlling
  var tieBreaker: UInt64
  var locals: [LocalAddress] = []
  var remotes: [RemoteCandidate] = []
  var pairs: [ControllingPair] = []
  var nominations = Nominations()
  /// Of the pair in use; meaningless without one.
  var selectedGeneration: UInt32 = 0
  var selectedSerial: UInt64 = 0
  var serials = Serials()
  var nextPace: Instant
  /// When the first pair under the newest credentials became valid.
  var firstValid: Instant?
  /// When the first pair under the newest credentials was there to be checked.
  var startedAt: Instant?
  var hasFailed = false
  var refusals: RateLimit
  /// The path in use: it answers our checks and is nominated.
  public internal(set) var selected: NetworkPath?
  /// When the last valid STUN message came, on any path; at first, when the agent was made.
  public internal(set) var lastHeard: Instant
  /// How the far end saw us in its last answer; differs from our own address behind a NAT.
  public internal(set) var mappedAddress: SocketAddress?
  public internal(set) var drops = ICEDropCounters()

  /// - Parameter remote: may follow by `setRemote`, for the side that offers.
  public init(
    local: ICECredentials, remote: ICECredentials? = nil, configuration: Configuration = Configuration(),
    now: Instant, random: inout RandomSource
  ) {
    self.configuration = configuration
    credentials = CredentialHistory(local: local, remote: remote)
    tieBreaker = random.next()
    refusals = RateLimit(rate: 10, burst: 10)
    nextPace = now
    lastHeard = now
  }

  /// Our credentials since the last restart.
  public var local: ICECredentials { credentials.current.local }

  /// The far end's credentials, from its description; no check is sent before.
  public mutating func setRemote(_ remote: ICECredentials) {
    if credentials.current.remote != remote { credentials.setRemote(remote) }
  }

  /// Adds an address of ours; those added first are preferred. More than `localLimit` are ignored.
  public mutating func addLocal(_ address: SocketAddress) {
    guard locals.count < Self.localLimit, !locals.contains(where: { $0.address == address }) else { return }
    let local = LocalAddress(address: address, preference: takeLocalPreference())
    locals.append(local)
    for remote in remotes { addPair(local, remote) }
  }

  /// Adds a candidate of the far end, at any time. More than `remoteLimit` are ignored.
  /// - Parameter priority: as the candidate line says.
  public mutating func addRemote(_ address: SocketAddress, priority: UInt32) {
    guard remotes.count < Self.remoteLimit, !remotes.contains(where: { $0.address == address }) else {
      return
    }
    let remote = RemoteCandidate(address: address, priority: priority)
    remotes.append(remote)
    for local in locals { addPair(local, remote) }
  }

  /// An ICE restart (RFC 8445 §9). The pair in use stays until one under the new credentials is nominated.
  /// The far end's candidates are forgotten: those of its new description are to be added.
  public mutating func restart(local: ICECredentials, remote: ICECredentials?) {
    credentials.restart(local: local, remote: remote)
    nominations.restart()
    let inUse = (selected, selectedGeneration)
    pairs.removeAll { $0.path != inUse.0 || $0.generation != inUse.1 }
    remotes = []
    firstValid = nil
    startedAt = nil
    hasFailed = false
  }

  /// An address of ours is gone and another came in its place. Its pairs are checked again from there; what
  /// was selected is nominated by the very first check, and `selected` is nil until that is answered.
  public mutating func localAddressChanged(from old: SocketAddress, to new: SocketAddress) {
    guard old != new, let index = locals.firstIndex(where: { $0.address == old }) else { return }
    let generation = credentials.generation
    locals.remove(at: index)
    if locals.contains(where: { $0.address == new }) {
      pairs.removeAll { $0.path.local == old }
    } else {
      let preference = takeLocalPreference()
      locals.append(LocalAddress(address: new, preference: preference))
      pairs.removeAll { $0.path.local == old && $0.generation != generation }
      for index in pairs.indices where pairs[index].path.local == old {
        pairs[index].move(to: new, preference: preference)
      }
    }
    guard let lost = selected, lost.local == old else { return }
    selected = nil
    nominate(NetworkPath(remote: lost.remote, local: new))
  }

  /// Moves to another path: it is checked, valid or not, with USE-CANDIDATE, and selected once that is
  /// answered.
  /// - Returns: false if there is no such pair, or the far end is the controlling one.
  @discardableResult
  public mutating func nominate(_ path: NetworkPath) -> Bool {
    let generation = credentials.generation
    guard role == .controlling,
      let index = pairs.firstIndex(where: { $0.path == path && $0.generation == generation })
    else { return false }
    pairs[index].wantsNomination = true
    trigger(index)
    return true
  }

  /// Whether the far end answered a check of ours on the path.
  public func isValidated(_ path: NetworkPath) -> Bool {
    pairs.contains { $0.path == path && $0.state == .valid }
  }

  /// From the last answer on the selected path; nil before the first.
  public var roundTripTime: Duration? {
    guard let index = selectedIndex, pairs[index].roundTrip > 0 else { return nil }
    return .nanoseconds(pairs[index].roundTrip)
  }

  // MARK: Pairs

  var selectedIndex: Int? {
    guard let selected else { return nil }
    return pairs.firstIndex { $0.path == selected && $0.generation == selectedGeneration }
  }

  /// Whether a pair under the newest credentials is in use.
  var isSettled: Bool { selected != nil && selectedGeneration == credentials.generation }

  mutating func trigger(_ index: Int) {
    serials.trigger &+= 1
    pairs[index].trigger = serials.trigger
  }

  /// Makes a pair of two addresses that can reach each other. Beyond the limit the worst idle one goes.
  /// - Returns: where it is; nil if the two don't fit or there is no room.
  @discardableResult
  mutating func addPair(_ local: LocalAddress, _ remote: RemoteCandidate) -> Int? {
    guard local.address.isIPv4 == remote.address.isIPv4,
      local.address.isLinkLocal == remote.address.isLinkLocal || local.address.isIPv4
    else { return nil }
    let pair = ControllingPair(
      NetworkPath(remote: remote.address, local: local.address), generation: credentials.generation,
      localPreference: local.preference, remotePriority: remote.priority)
    if pairs.count >= Self.pairLimit {
      let idle = pairs.indices.filter { pairs[$0].state == .waiting || pairs[$0].state == .failed }
      guard let worst = idle.min(by: { pairs[$0].priority(role) < pairs[$1].priority(role) }),
        pairs[worst].priority(role) < pair.priority(role)
      else { return nil }
      pairs.remove(at: worst)
    }
    pairs.append(pair)
    return pairs.count - 1
  }

  mutating func takeLocalPreference() -> UInt16 {
    defer { serials.localPreference = serials.localPreference > 0 ? serials.localPreference - 1 : 0 }
    return serials.localPreference
  }
}
