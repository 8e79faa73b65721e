internal import Model
internal import Wire

/// The credentials in force: those of the last restart and, until a pair under them is used, those before.
struct CredentialHistory: ~Copyable {
  private(set) var current: CredentialSet
  private var previous: CredentialSet?
  private(set) var previousGeneration: UInt32?
  private var previousHasRemote = false

  init(local: ICECredentials, remote: ICECredentials?) {
    current = CredentialSet(generation: 0, local: local, remote: remote)
  }

  var generation: UInt32 { current.generation }

  var servedFragments: [String] {
    switch previous {
    case .some(let older): [older.local.ufrag, current.local.ufrag]
    case .none: [current.local.ufrag]
    }
  }

  func isServed(_ generation: UInt32) -> Bool {
    generation == current.generation || generation == previousGeneration
  }

  /// Whether checks can be sent under a generation.
  func hasRemote(_ generation: UInt32) -> Bool {
    generation == current.generation
      ? current.remote != nil : generation == previousGeneration && previousHasRemote
  }

  mutating func setRemote(_ credentials: ICECredentials) { current.setRemote(credentials) }

  /// A restart keeps the credentials in use; those of a restart that was never used are forgotten.
  mutating func restart(local: ICECredentials, remote: ICECredentials?) {
    var set = CredentialSet(generation: current.generation &+ 1, local: local, remote: remote)
    swap(&current, &set)
    guard previousGeneration == nil else { return }
    previousGeneration = set.generation
    previousHasRemote = set.remote != nil
    previous = consume set
  }

  /// The credentials of the last restart are the ones in use now.
  mutating func forgetPrevious() {
    previous = nil
    previousGeneration = nil
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
    guard var older = previous.take() else { return .invalid(.unknownUfrag) }
    var verdict = Verdict.invalid(.unknownUfrag)
    if older.isAddressed(by: message, in: datagram) {
      verdict =
        older.verifyRequest(message, datagram)
        ? .valid(generation: older.generation) : .invalid(.badIntegrity)
    }
    previous = consume older
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
  }

  init(from reader: inout StateReader) throws(StateError) {
    let current = try CredentialSet(from: &reader)
    if try reader.bool() {
      let older = try CredentialSet(from: &reader)
      let (generation, hasRemote) = (older.generation, older.remote != nil)
      self.init(current, previous: older, generation, hasRemote: hasRemote)
    } else {
      self.init(current, previous: nil, nil, hasRemote: false)
    }
  }

  private init(
    _ current: consuming CredentialSet, previous: consuming CredentialSet?, _ previousGeneration: UInt32?,
    hasRemote: Bool
  ) {
    self.current = current
    self.previous = previous
    self.previousGeneration = previousGeneration
    previousHasRemote = hasRemote
  }
}
