internal import Crypto
internal import Engine
internal import Model
public import SyntheticPeers
internal import Wire

/// A whole conference in one thread on a virtual clock: synthetic peers and their clients, a network, and the server's
/// workers, rooms and native door. All that happens follows from the seed.
public final class Conference {
  public struct Options: Sendable {
    /// nil: two or four, as the seed has it.
    public var workers: Int?
    public var peers = 8
    /// nil: one to three, as the seed has it.
    public var rooms: Int?
    /// nil: as the seed has it, which is every tenth.
    public var isHeavy: Bool?
    /// Virtual time from the first join to the last leave.
    public var duration = Duration.seconds(20)
    /// Bad networks and everything that can happen to a peer; without it, a network that only delays.
    public var weather = true
    /// The conference on narrow paths that a seed has beside; see `LayerPlan`.
    var isNarrow = false
    /// So many people in one room, on laptops and phones, and nothing else; nil: none. See `LayerPlan+Meeting.swift`.
    public var meeting: Int?
    /// Keeps a line for everything that happens.
    public var traces = false
    public var hooks = VirtualClock.ProcessHooks.none

    public init() {}
  }

  public struct Outcome: Sendable {
    public var seed: UInt64
    /// The first of them; `violationCount` counts all.
    public var violations: [String]
    public var violationCount: Int
    public var trace: [String]
    public var mechanisms: MechanismCounts
    /// Of all datagrams, and of what the server said on sockets, with their times.
    public var digest: String
    public var datagrams: UInt64
    public var virtualTime: Duration
  }

  struct Addresses {
    /// Outside addresses, never used again, and whose they were.
    var owners: [SocketAddress: Int] = [:]
    var nextHost = 1
    /// Checks that reached the server last.
    var lastChecks: [(bytes: [UInt8], path: NetworkPath)] = []
  }

  /// What passes on the WebSockets.
  struct SignallingBooks {
    /// By the server's number of it.
    var sockets: [Int: SocketRecord] = [:]
    /// Messages of the control plane on their way.
    var messagesInFlight = 0
    /// Whose tokens of before are no good any more, and since when: by the clock, and by the second that tokens name.
    var removals: [RemovedIdentity: (at: Instant, second: Int)] = [:]
    /// Participants and tracks, by their ids, with the numbers of whose they are; and tracks in the order in which they
    /// began.
    var names: [String: Int] = [:]
    var trackOrder: [String: Int] = [:]
    /// What publishers hear of codecs.
    var codecs = CodecBooks()
  }

  static let serverAddress = SocketAddress(ipv4: 203, 0, 113, 1, port: 7_882)

  let options: Options
  let plan: Plan
  let seed: UInt64
  let journal: Journal
  var clock: VirtualClock
  var random: RandomSource
  var network: NetworkEmulator
  let server: SimulatedServer
  let control: ControlPlane
  var schedule = Schedule()
  /// All that ever were, by number.
  var participants: [Participant] = []
  /// Numbers of those whose far end still lives.
  var living: [Int] = []
  var byKey: [PeerKey: Int] = [:]
  var tap = NetworkTap()
  var digest = Digest()
  var addresses = Addresses()
  var books = SignallingBooks()
  /// Sessions end because the conference does.
  var isEnding = false
  /// When the publishers fell silent.
  var stoppedAt = Instant.never
  var sinks: SinkBooks
  /// Of one on narrow paths.
  var layers: LayerBooks? { plan.layers }

  public init(seed: UInt64, options: Options = Options()) throws {
    self.seed = seed
    self.options = options
    plan = Plan(seed: seed, options: options)
    journal = Journal(traces: options.traces)
    sinks = SinkBooks(seed: seed)
    options.hooks.setSeed(seed ^ 0x5EED_5EED_5EED_5EED)
    clock = VirtualClock(hooks: options.hooks)
    random = .seeded(state: seed)
    network = NetworkEmulator(random: .seeded(state: random.next()))
    let start = VirtualClock.wallTimeAtZero / 1_000_000_000
    let certificate = try DTLSCertificate(notBefore: start - 86_400, notAfter: start + 86_400 * 30)
    server = SimulatedServer(
      workers: plan.workers, address: Self.serverAddress, epoch: clock.epoch,
      dtls: try DTLSContext(certificate: certificate), heedsReports: options.isNarrow, seed: random.next())
    control = ControlPlane(
      server, certificate: certificate, epoch: clock.epoch, peers: 1_000, estimates: options.isNarrow,
      random: .seeded(state: random.next()), order: .seeded(state: ~seed))
  }

  var now: Instant { clock.now }

  /// Plans something for later.
  func after(_ span: Int64, _ action: @escaping () -> Void) {
    schedule.add(at: now.advanced(byNanoseconds: span), action)
  }

  /// Runs everything and tells what it saw.
  public func run() -> Outcome {
    let start = now
    control.begin(now: now)
    defer { control.end() }
    makePlans()
    run(until: start + (layers?.plan.span ?? options.duration))
    finish()
    defer { clock.release() }
    var counts = journal.mechanisms
    counts[.packetLost] += network.counters.lost
    counts[.packetDuplicated] += network.counters.duplicated
    counts[.packetReordered] += network.counters.reordered
    counts[.pathOverflow] += network.counters.overflowed
    counts[.jobReordered] += UInt64(control.reorderings)
    return Outcome(
      seed: seed, violations: journal.violations, violationCount: journal.violationCount,
      trace: journal.trace, mechanisms: counts, digest: digest.finish(), datagrams: network.counters.sent,
      virtualTime: now - start)
  }

  // MARK: Time

  func run(until end: Instant) {
    while true {
      let next = nextDeadline()
      guard next <= end else { break }
      clock.advance(to: next)
      step()
    }
    clock.advance(to: end)
    control.advance(to: end)
  }

  private func nextDeadline() -> Instant {
    var next = min(network.deadline, server.deadline, schedule.deadline, control.deadline)
    for number in living { next = min(next, participants[number].deadline) }
    return next
  }

  /// Everything that is due at this instant.
  private func step() {
    control.advance(to: now)
    while let action = schedule.next(now: now) { action() }
    while let delivery = network.deliver(now: now) { route(delivery) }
    journal.note(lost: network.lostTags)
    network.lostTags.removeAll(keepingCapacity: true)
    for number in living where participants[number].deadline <= now {
      participants[number].peer.poll(now: now)
      flush(participants[number])
    }
    runServer()
    auditCodecs()
  }

  /// Lets workers and rooms run until none has anything to do.
  func runServer() {
    for _ in 0..<Self.turnLimit {
      guard control.run() else { return journal.violation(now, "the rooms do not become quiet") }
      takeTap()
      guard let datagrams = server.run(now: now) else {
        return journal.violation(now, "the workers do not become quiet")
      }
      guard control.run() else { return journal.violation(now, "the rooms do not become quiet") }
      takeTap()
      for datagram in datagrams { depart(datagram) }
      takeMessages()
      if !server.isWoken && !control.isBusy { return }
    }
    journal.violation(now, "workers and rooms keep each other busy")
  }

  private static let turnLimit = 1_000

  /// Sends what a peer has left, and notes when it wants its turn.
  func flush(_ participant: Participant) {
    for datagram in participant.peer.outgoing {
      // What it sends from an address that it gave up goes nowhere.
      guard datagram.path.local == participant.inside else { continue }
      digest.add(datagram.bytes, path: datagram.path, now: now)
      network.send(datagram.bytes, path: datagram.path, now: now, tag: datagram.tag)
    }
    participant.peer.outgoing.removeAll(keepingCapacity: true)
    participant.deadline = participant.peer.deadline
  }

  // MARK: Datagrams

  private func route(_ delivery: NetworkEmulator.Delivery) {
    if delivery.path.local == Self.serverAddress { return arrive(delivery) }
    // What goes to an address that no participant has ends here; the tap has seen it leave.
    guard let number = living.first(where: { participants[$0].inside == delivery.path.local }) else {
      return
    }
    let participant = participants[number]
    participant.peer.receive(
      delivery.bytes, path: delivery.path, sentAt: delivery.sentAt, isRepeat: delivery.isRepeat, now: now)
    flush(participant)
  }

  /// A datagram is at the server's door.
  private func arrive(_ delivery: NetworkEmulator.Delivery) {
    tap.noteArrival(delivery.bytes, from: delivery.path.remote)
    noteNomination(delivery.bytes, from: delivery.path.remote)
    if let mark = DatagramMark(tag: delivery.tag) {
      let track = journal.tracks[mark.log]
      let sender = participants[track.publisher]
      let isDue =
        sender.connection.connectedAt < now && sender.connection.closedAt == .never
        && tap.isValidated(delivery.path.remote)
      track.noteReached(mark.number, now: now)
      track.noteArrival(mark.number, now: now, isDue: isDue)
      sender.peer.noteArrival(delivery.bytes, now: now)
      if isDue { sender.peer.noteHeard(delivery.bytes) }
      noteWorker(of: sender, delivery.path)
    } else if delivery.bytes.count >= 2, delivery.bytes[0] == 0, delivery.bytes[1] == 1 {
      if addresses.lastChecks.count >= 16 { addresses.lastChecks.removeFirst() }
      addresses.lastChecks.append((delivery.bytes, delivery.path))
    }
    server.receive(delivery.bytes, path: delivery.path)
  }

  /// Looks for a participant's first nomination among what reaches the server, until there is one.
  private func noteNomination(_ bytes: [UInt8], from remote: SocketAddress) {
    guard let owner = addresses.owners[remote], participants[owner].connection.nominatedAt == .never else {
      return
    }
    let isNomination = bytes.withUnsafeBytes { datagram in
      guard let message = try? STUNMessage(datagram) else { return false }
      return message.messageClass == .request && (message.useCandidate || message.nomination ?? 0 > 0)
    }
    if isNomination { participants[owner].connection.nominated.insert(remote) }
    if participants[owner].connection.nominated.contains(remote), tap.isValidated(remote) {
      participants[owner].connection.nominatedAt = now
    }
  }

  private func noteWorker(of participant: Participant, _ path: NetworkPath) {
    let worker = server.worker(of: path)
    if let before = participant.connection.worker, before != worker { journal.count(.workerChange) }
    participant.connection.worker = worker
  }

  /// The server sends a datagram.
  private func depart(_ datagram: SimulatedServer.Outgoing) {
    digest.add(datagram.bytes, path: datagram.path, now: now)
    if let problem = tap.noteDeparture(datagram.bytes, to: datagram.path.remote) {
      journal.violation(now, problem)
    }
    var tag: UInt64 = 0
    if let first = datagram.bytes.first, (128...191).contains(first) {
      if let owner = addresses.owners[datagram.path.remote] {
        tag = noteMedia(datagram.bytes, participants[owner])
      } else {
        journal.violation(now, "media goes to \(datagram.path.remote), which is no participant's")
      }
    }
    if let layers, let owner = addresses.owners[datagram.path.remote] {
      noteLayers(datagram.bytes, participants[owner], layers)
    }
    network.send(datagram.bytes, path: datagram.path, now: now, tag: tag)
  }

  /// - Returns: the tag under which the network carries it.
  private func noteMedia(_ bytes: [UInt8], _ subscriber: Participant) -> UInt64 {
    if bytes.withUnsafeBytes({ RTCPPacket.matches($0) }) {
      noteRTCP(bytes, subscriber)
      return 0
    }
    guard let header = SealedHeader(bytes), subscriber.announced.contains(header.ssrc) else {
      journal.violation(now, "a stream leaves for \(subscriber.number) that was not announced to it")
      return 0
    }
    if let problem = problem(withStream: header.ssrc, to: subscriber) { journal.violation(now, problem) }
    let log = journal.departureLog(subscriber: subscriber.number, ssrc: header.ssrc)
    journal.count(.packetForwarded)
    let (number, verdict) = journal.departures[log].note(
      sequence: header.sequence, timestamp: header.timestamp, fingerprint: NetworkTap.fingerprint(bytes),
      now: now)
    switch verdict {
    case .first: break
    case .repeated:
      journal.count(.repeatedSealed)
      if subscriber.peer.configuration.dialect.acceptsRTX {
        journal.violation(now, "a sealed packet goes to \(subscriber.number) twice")
      }
    case .conflict:
      journal.violation(
        now, "index \(header.sequence) of stream \(header.ssrc) is sealed twice for \(subscriber.number)")
    }
    return DatagramMark(isDeparture: true, log: log, number: number).tag
  }
}
