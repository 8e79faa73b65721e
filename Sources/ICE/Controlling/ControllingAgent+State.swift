public import Model

extension ControllingAgent {
  private static let stateVersion: UInt8 = 2

  /// Writes everything: an agent read from it goes on as this one would have.
  public func encode(into writer: inout StateWriter) {
    writer.write(Self.stateVersion)
    configuration.encode(into: &writer)
    credentials.encode(into: &writer)
    writer.write(role.rawValue)
    writer.write(tieBreaker)
    writer.write(UInt32(locals.count))
    for local in locals {
      writer.write(local.address)
      writer.write(local.preference)
    }
    writer.write(UInt32(remotes.count))
    for remote in remotes {
      writer.write(remote.address)
      writer.write(remote.priority)
    }
    writer.write(UInt32(pairs.count))
    for pair in pairs { pair.encode(into: &writer) }
    nominations.encode(into: &writer)
    writer.write(selectedGeneration)
    writer.write(selectedSerial)
    serials.encode(into: &writer)
    writer.write(nextPace)
    // `.never` stands for nil: neither happens at that instant.
    writer.write(firstValid ?? .never)
    writer.write(startedAt ?? .never)
    writer.write(hasFailed)
    refusals.encode(into: &writer)
    writer.write(selected != nil)
    if let selected { writer.write(selected) }
    writer.write(lastHeard)
    writer.write(mappedAddress != nil)
    if let mappedAddress { writer.write(mappedAddress) }
    drops.encode(into: &writer)
  }

  public init(from reader: inout StateReader) throws(StateError) {
    _ = try reader.version("controlling agent", from: 2, upTo: Self.stateVersion)
    let configuration = try Configuration(from: &reader)
    let credentials = try CredentialHistory(from: &reader)
    guard let role = ICERole(rawValue: try reader.integer()) else {
      throw .invalid(field: "role", offset: reader.offset - 1)
    }
    let tieBreaker = try reader.integer(UInt64.self)
    var locals: [LocalAddress] = []
    for _ in 0..<(try reader.count(limit: Self.localLimit)) {
      locals.append(LocalAddress(address: try reader.address(), preference: try reader.integer()))
    }
    var remotes: [RemoteCandidate] = []
    for _ in 0..<(try reader.count(limit: Self.remoteLimit)) {
      remotes.append(RemoteCandidate(address: try reader.address(), priority: try reader.integer()))
    }
    var pairs: [ControllingPair] = []
    for _ in 0..<(try reader.count(limit: Self.pairLimit)) {
      pairs.append(try ControllingPair(from: &reader))
    }
    let nominations = try Nominations(from: &reader)
    let selection = (
      generation: try reader.integer(UInt32.self), serial: try reader.integer(UInt64.self)
    )
    let serials = try Serials(from: &reader)
    let nextPace = try reader.instant()
    let firstValid = try reader.instant()
    let startedAt = try reader.instant()
    let hasFailed = try reader.bool()
    let refusals = try RateLimit(from: &reader)
    let selected = try reader.bool() ? try reader.path() : nil
    let lastHeard = try reader.instant()
    let mappedAddress = try reader.bool() ? try reader.address() : nil
    let drops = try ICEDropCounters(from: &reader)

    self.configuration = configuration
    self.credentials = credentials
    self.role = role
    self.tieBreaker = tieBreaker
    self.locals = locals
    self.remotes = remotes
    self.pairs = pairs
    self.nominations = nominations
    (selectedGeneration, selectedSerial) = selection
    self.serials = serials
    self.nextPace = nextPace
    self.firstValid = firstValid == .never ? nil : firstValid
    self.startedAt = startedAt == .never ? nil : startedAt
    self.hasFailed = hasFailed
    self.refusals = refusals
    self.selected = selected
    self.lastHeard = lastHeard
    self.mappedAddress = mappedAddress
    self.drops = drops
  }
}

extension ControllingAgent.Serials {
  func encode(into writer: inout StateWriter) {
    writer.write(trigger)
    writer.write(nomination)
    writer.write(localPreference)
  }

  init(from reader: inout StateReader) throws(StateError) {
    trigger = try reader.integer()
    nomination = try reader.integer()
    localPreference = try reader.integer()
  }
}

extension ControllingAgent.Configuration {
  func encode(into writer: inout StateWriter) {
    for span in [pace, retransmission, patience] { writer.write(span.wholeNanoseconds) }
    writer.write(isAggressive)
    writer.write(sendsNominationValue)
    writer.write(nominatesAgain)
  }

  init(from reader: inout StateReader) throws(StateError) {
    self.init()
    pace = .nanoseconds(try reader.integer(Int64.self))
    retransmission = .nanoseconds(try reader.integer(Int64.self))
    patience = .nanoseconds(try reader.integer(Int64.self))
    isAggressive = try reader.bool()
    sendsNominationValue = try reader.bool()
    nominatesAgain = try reader.bool()
  }
}
