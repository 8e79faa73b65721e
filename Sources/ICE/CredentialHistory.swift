internal import Model
internal import Wire

/// The credentials in force: those of the last restart and, until a pair under them is used, those in use.
///
/// Where it is asked for, also ours of before a restart with the peer's of it, as a generation of its own. Chromium checks from its new ports
/// before it has our answer, under the fragment that it has of us, and may go on with that pair.
///
///     generation      ours            the peer's
///     n               before          before          in use
///     n + 1           before          of the restart  crossed
///     n + 2           of the restart  of the restart  current
struct CredentialHistory: ~Copyable {
  private static let step: UInt32 = 2

  private(set) var current: CredentialSet
  private var previous: CredentialSet?
  private(set) var previousGeneration: UInt32?
  private var previousRemote: ICECredentials?
  private let mayCross: Bool
  private var crossed: CredentialSet?
  private var crossedGeneration: UInt32?

  /// - Parameter mayCross: checks of the peer's may come under ours of before and its own of the restart.
  init(local: ICECredentials, remote: ICECredentials?, mayCross: Bool = false) {
    current = CredentialSet(generation: 0, local: local, remote: remote)
    self.mayCross = mayCross
  }

  var generation: UInt32 { current.generation }

  var servedFragments: [String] {
    var served: [String] = []
    switch previous {
    case .some(let older): served.append(older.local.ufrag)
    case .none: break
    }
    switch crossed {
    case .some(let set): if !served.contains(set.local.ufrag) { served.append(set.local.ufrag) }
    case .none: break
    }
    return served + [current.local.ufrag]
  }

  func isServed(_ generation: UInt32) -> Bool {
    generation == current.generation || generation == previousGeneration || generation == crossedGeneration
  }

  /// Whether checks can be sent under a generation.
  func hasRemote(_ generation: UInt32) -> Bool {
    generation == current.generation
      ? current.remote != nil
      : generation == previousGeneration && previousRemote != nil || generation == crossedGeneration
  }

  /// Whether the peer's credentials of a generation are its newest.
  func isOfNewestRemote(_ generation: UInt32) -> Bool {
    generation != previousGeneration || previousRemote == current.remote
  }

  mutating func setRemote(_ credentials: ICECredentials) { current.setRemote(credentials) }

  /// A restart keeps the credentials in use; those of a restart that was never used are forgotten, but for ours with the peer's
  /// newest.
  /// - Parameter used: the generation of the pair in use; nil: there is none, or it isn't known.
  mutating func restart(local: ICECredentials, remote: ICECredentials?, used: UInt32? = nil) {
    let (last, isNews) = (current.local, current.remote != remote)
    var set = CredentialSet(generation: current.generation &+ Self.step, local: local, remote: remote)
    swap(&current, &set)
    if previousGeneration == nil || used == set.generation {
      previousGeneration = set.generation
      previousRemote = set.remote
      previous = consume set
    }
    crossed = nil
    crossedGeneration = nil
    if isNews { cross(last) }
  }

  /// The credentials of the last restart are the ones in use now.
  mutating func forgetPrevious() {
    previous = nil
    previousGeneration = nil
    previousRemote = nil
    crossed = nil
    crossedGeneration = nil
  }

  /// A pair under that generation is used now. One under the crossed credentials takes the place of those before, which stay then: the
  /// peer may have pairs under either.
  /// - Returns: whether others are gone.
  mutating func settle(on generation: UInt32) -> Bool {
    if generation == current.generation {
      guard previousGeneration != nil, previousRemote != current.remote else { return false }
      forgetPrevious()
      return true
    }
    guard generation == crossedGeneration else { return false }
    previous = crossed.take()
    previousGeneration = generation
    previousRemote = current.remote
    crossedGeneration = nil
    return true
  }

  private mutating func cross(_ last: ICECredentials) {
    guard mayCross, let remote = current.remote else { return }
    let generation = current.generation &- 1
    crossed = CredentialSet(generation: generation, local: last, remote: remote)
    crossedGeneration = generation
  }

  /// Decides under which generation a request is valid.
  mutating func verifyRequest(
    _ message: borrowing STUNMessage, _ datagram: UnsafeRawBufferPointer
  ) -> Verdict {
    if current.isAddressed(by: message, in: datagram) {
      return current.verifyRequest(message, datagram)
        ? .valid(generation: current.generation) : .invalid(.badIntegrity)
    }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.oldFragment) { return .invalid(.unknownUfrag) }
    #endif
    if let verdict = crossedVerdict(message, datagram) { return verdict }
    guard var older = previous.take() else { return .invalid(.unknownUfrag) }
    var verdict = Verdict.invalid(.unknownUfrag)
    // What it sends under others of its own is of no use: it would refuse our checks.
    let isNamed = older.remote == nil ? true : older.isNamed(by: message, in: datagram)
    if isNamed, older.isAddressed(by: message, in: datagram) {
      verdict =
        older.verifyRequest(message, datagram)
        ? .valid(generation: older.generation) : .invalid(.badIntegrity)
    }
    previous = consume older
    return verdict
  }

  private mutating func crossedVerdict(
    _ message: borrowing STUNMessage, _ datagram: UnsafeRawBufferPointer
  ) -> Verdict? {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.restartUncrossed) { return nil }
    #endif
    guard var set = crossed.take() else { return nil }
    var verdict: Verdict?
    if set.isAddressed(by: message, in: datagram), set.isNamed(by: message, in: datagram) {
      verdict =
        set.verifyRequest(message, datagram) ? .valid(generation: set.generation) : .invalid(.badIntegrity)
    }
    crossed = consume set
    return verdict
  }

  enum Verdict {
    case valid(generation: UInt32)
    case invalid(ICEDrop)
  }

  /// Lets `body` seal or verify under the credentials of a generation.
  /// - Returns: nil if they are gone, or what `body` returns.
  mutating func with<T>(_ generation: UInt32, _ body: (inout CredentialSet) -> T?) -> T? {
    if generation == current.generation { return body(&current) }
    if generation == crossedGeneration, var set = crossed.take() {
      let result = body(&set)
      crossed = consume set
      return result
    }
    guard generation == previousGeneration, var older = previous.take() else { return nil }
    let result = body(&older)
    previous = consume older
    return result
  }
}

extension CredentialHistory {
  func encode(into writer: inout StateWriter) {
    current.encode(into: &writer)
    writer.write(previousGeneration != nil)
    switch previous {
    case .some(let older): older.encode(into: &writer)
    case .none: break
    }
    guard mayCross else { return }
    writer.write(crossedGeneration != nil)
    switch crossed {
    case .some(let set): writer.write(set.local)
    case .none: break
    }
  }

  /// - Parameter hasCrossed: the state says whether there are crossed credentials.
  init(
    from reader: inout StateReader, mayCross: Bool = false, hasCrossed: Bool = false
  ) throws(StateError) {
    let current = try CredentialSet(from: &reader)
    var previous: CredentialSet?
    var before: (generation: UInt32, remote: ICECredentials?)?
    if try reader.bool() {
      let older = try CredentialSet(from: &reader)
      before = (older.generation, older.remote)
      previous = consume older
    }
    let offset = reader.offset
    var last: ICECredentials?
    if hasCrossed, try reader.bool() { last = try reader.credentials() }
    let isSound =
      current.remote != nil && current.generation > 0 && before?.generation != current.generation - 1
    guard last == nil || isSound else { throw .invalid(field: "crossed credentials", offset: offset) }
    self.init(current, previous: previous, before?.generation, before?.remote, mayCross: mayCross)
    if let last { cross(last) }
  }

  private init(
    _ current: consuming CredentialSet, previous: consuming CredentialSet?, _ previousGeneration: UInt32?,
    _ previousRemote: ICECredentials?, mayCross: Bool
  ) {
    self.current = current
    self.previous = previous
    self.previousGeneration = previousGeneration
    self.previousRemote = previousRemote
    self.mayCross = mayCross
  }
}
