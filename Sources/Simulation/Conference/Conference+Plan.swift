internal import Model
internal import SyntheticPeers

extension Conference {
  /// Decides who comes when, over what network, and what happens on the way.
  func makePlans() {
    if plan.isHeavy { journal.count(.heavyMedia) }
    if plan.workers == 4 { journal.count(.fourWorkers) }
    if let layers { return makeLayerPlans(layers) }
    let span = options.duration.wholeNanoseconds
    var arrivals = (0..<plan.peers).map { _ in Int64.random(in: 0...1_500_000_000, using: &random) }
    arrivals.sort()
    for moment in arrivals {
      after(moment) { [unowned self] in arrive(room: participants.count % plan.rooms) }
    }
    for second in 3..<max(4, span / 1_000_000_000) {
      after(second * 1_000_000_000) { [unowned self] in comparePictures() }
    }
    guard options.weather else { return }

    if plan.hasSocketless {
      after(span / 8) { [unowned self] in arriveWithoutSocket(room: Int(seed / 6) % plan.rooms) }
    }
    after(span / 2) { [unowned self] in replaceAll() }
    for part in [4, 6, 8] {
      after(span * Int64(part) / 10 + 50_000_000) { [unowned self] in replaceWorkers() }
    }
    after(span * 2 / 5) { [unowned self] in
      // One publisher's packets come in at another worker in mid-call, whatever else happens.
      if let participant = pick() { rebind(participant, changingWorker: true) }
    }
    // What comes seldom by itself, or needs a time of its own.
    after(span / 4) { [unowned self] in if let participant = pick() { cutSignalling(participant) } }
    after(span * 3 / 10) { [unowned self] in
      if one(in: 3), mayCome, let participant = pick() { cutSignalling(participant, isLong: true) }
    }
    after(span * 9 / 20) { [unowned self] in
      guard one(in: 2), let participant = pick() else { return }
      if one(in: 2) { remove(participant) } else { replaceIdentity(participant) }
    }
    if plan.isUnruly {
      after(span * 6 / 10) { [unowned self] in if let participant = pick() { removeRacing(participant) } }
    }
    if plan.hasSinks {
      for moment in stride(from: 2_300_000_000, to: span, by: 300_000_000) {
        after(moment) { [unowned self] in turnSinks() }
      }
    }
    if plan.isHostile {
      for part in [3, 5, 7] { after(span * Int64(part) / 10) { [unowned self] in turnHostile() } }
    }
    var moment: Int64 = 2_000_000_000
    while moment < span - 1_000_000_000 {
      after(moment) { [unowned self] in somethingHappens() }
      if plan.isUnruly {
        after(moment + Int64.random(in: 0...400_000_000, using: &random)) { [unowned self] in
          somethingUnrulyHappens()
        }
      }
      moment += Int64.random(in: 50_000_000...900_000_000, using: &random)
    }
  }

  /// A participant joins, with habits and a network of its own.
  /// - Parameter identity: nil: one of its own.
  func arrive(room: Int, identity: String? = nil) {
    var configuration = PeerConfiguration(number: participants.count)
    let receivers = plan.neighbours
    configuration.talksInTurns = true
    configuration.audioReceivers = receivers
    configuration.videoReceivers = receivers
    configuration.audioSequence = firstSequence()
    configuration.videoSequence = firstSequence()
    // A browser without a sound card counts samples by a timer that comes late.
    if one(in: 2) { configuration.clock.soundDrift = Int64.random(in: -80_000...(-30_000), using: &random) }
    guard options.weather else {
      _ = join(configuration, room: room, identity: identity, up: .good, down: .good)
      return
    }
    let hasFew = one(in: 3)
    if hasFew {
      // The rest follows when the server asks for it, or never.
      configuration.audioReceivers = (receivers + 1) / 2
      configuration.videoReceivers = (receivers + 1) / 2
    }
    let keepsFewSlots = hasFew && one(in: 2)
    configuration.waitsForHandshake = one(in: 3)
    configuration.announcesSSRCs = !one(in: 3)
    configuration.dialect = dialect()
    configuration.dialect.tellsCaptureTime = configuration.number % 3 != 0
    configuration.audioCodec = [.opus, .opus, .red, .red, .pcmu, .g722][Int(random.next() % 6)]
    configuration.videoCodec = [.vp8, .vp8, .vp9, .h264, .h265, .av1][Int(random.next() % 6)]
    configuration.pausesInSilence = one(in: 3)
    configuration.hasShortPictureIDs = one(in: 4)
    configuration.hasLongDescriptors = one(in: 2)
    configuration.clock.offset = Int64.random(in: -5_000_000_000_000...5_000_000_000_000, using: &random)
    // Every other clock is as far off as any quartz that is promised to be watched.
    let drift = Int64.random(in: -50...50, using: &random)
    configuration.clock.drift = one(in: 2) ? drift : drift < 0 ? -50 : 50
    configuration.video.interval = [33_333_333, 50_000_000, 66_666_667][Int(random.next() % 3)]
    configuration.video.packetSize = one(in: 4) ? 60...1_100 : 60...300
    if plan.isHeavy {
      // 20 frames a second of nine packets of a kilobyte.
      configuration.video.interval = 50_000_000
      configuration.video.packetSize = 950...1_150
      configuration.video.packets = 8...10
      configuration.video.keyFramePackets = 15...25
    }
    let participant = join(
      configuration, room: room, identity: identity, allowance: tokenAllowance(), up: conditions(),
      down: conditions())
    participant?.peer.descriptions.reusesMids = plan.isUnruly
    participant?.offering.keepsFewSlots = keepsFewSlots
  }

  private func dialect() -> Dialect {
    var dialect = Dialect()
    dialect.acceptsRTX = !one(in: 4)
    dialect.reducesRTCP = !one(in: 4)
    dialect.mixesExtensions = !one(in: 3)
    if one(in: 2) { dialect.lacks.insert(.red) }
    if one(in: 6) { dialect.lacks.insert([.vp9, .h264, .h265, .av1][Int(random.next() % 4)]) }
    if one(in: 8) { dialect.lacks.insert([.pcmu, .g722][Int(random.next() % 2)]) }
    if !one(in: 4) {
      dialect.shuffle(&random)
      journal.count(.payloadTypeMapped)
    }
    return dialect
  }

  /// Half of all streams come soon past 65,535. SRTP can't bear that within the first packets: who misses them
  /// all can't know the rollover counter (RFC 3711 §3.3.1).
  private func firstSequence() -> UInt16 {
    guard one(in: 2) else { return UInt16(truncatingIfNeeded: random.next()) & 0x7FFF }
    journal.count(.rollover)
    return .max - UInt16.random(in: 150...500, using: &random)
  }

  func conditions() -> LinkConditions {
    var conditions = LinkConditions(delay: Int64.random(in: 2_000_000...60_000_000, using: &random))
    switch random.next() % 4 {
    case 0: break
    case 1:
      conditions.jitter = 5_000_000
      conditions.loss = 0.005
    case 2:
      conditions.jitter = 20_000_000
      conditions.loss = 0.02
      conditions.duplication = 0.005
      conditions.reordering = 0.01
    default:
      conditions.jitter = 40_000_000
      conditions.loss = 0.05
      conditions.duplication = 0.02
      conditions.reordering = 0.03
      conditions.reorderingSpan = 30_000_000
    }
    return conditions
  }

  func one(in count: UInt64) -> Bool { random.next() % count == 0 }

  /// One that is connected; nil if none is.
  func pick() -> Participant? {
    let ready = living.filter {
      participants[$0].connection.connectedAt < now && participants[$0].peer.isConnected
        && participants[$0].isPresent
    }
    return ready.isEmpty ? nil : participants[ready[Int(random.next() % UInt64(ready.count))]]
  }
}
