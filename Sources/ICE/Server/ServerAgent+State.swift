public import Model

extension ServerAgent {
  private static let stateVersion: UInt8 = 4

  /// Writes everything: an agent read from it goes on as this one would have.
  public func encode(into writer: inout StateWriter) {
    writer.write(Self.stateVersion)
    credentials.encode(into: &writer)
    writer.write(verification.rawValue)
    pairs.encode(into: &writer)
    writer.write(tieBreaker)
    nominations.encode(into: &writer)
    writer.write(challenge != nil)
    challenge?.encode(into: &writer)
    writer.write(trustedGeneration != nil)
    if let trustedGeneration { writer.write(trustedGeneration) }
    refusals.encode(into: &writer)
    writer.write(startedAt)
    writer.write(wasEstablished)
    writer.write(hasFailed)
    writer.write(lastHeard)
    drops.encode(into: &writer)
  }

  public init(from reader: inout StateReader) throws(StateError) {
    let version = try reader.version("server agent", from: 3, upTo: Self.stateVersion)
    let credentials = try CredentialHistory(from: &reader, mayCross: true, hasCrossed: version >= 4)
    let verification = ICEVerification(rawValue: try reader.integer())
    guard let verification else { throw .invalid(field: "verification", offset: reader.offset - 1) }
    let pairs = try ServerPairTable(from: &reader)
    let tieBreaker = try reader.integer(UInt64.self)
    let nominations = try Nominations(from: &reader)
    let challenge = try reader.bool() ? try PathChallenge(from: &reader) : nil
    let trustedGeneration = try reader.bool() ? try reader.integer(UInt32.self) : nil
    let refusals = try RateLimit(from: &reader)
    let startedAt = try reader.instant()
    let wasEstablished = try reader.bool()
    let hasFailed = try reader.bool()
    let lastHeard = try reader.instant()
    let drops = try ICEDropCounters(from: &reader)

    self.credentials = credentials
    self.verification = verification
    self.pairs = pairs
    selected = pairs.selected.map { pairs[$0].path }
    self.tieBreaker = tieBreaker
    self.nominations = nominations
    self.challenge = challenge
    self.trustedGeneration = trustedGeneration
    self.refusals = refusals
    self.startedAt = startedAt
    self.wasEstablished = wasEstablished
    self.hasFailed = hasFailed
    self.lastHeard = lastHeard
    self.drops = drops
  }
}
