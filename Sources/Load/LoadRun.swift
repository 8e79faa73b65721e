internal import Crypto
internal import Engine
internal import Glibc
internal import Model
internal import Polling
internal import SyntheticPeers
internal import WebSocketClient

/// Joins everybody, lets media flow, counts for the asked time, and waits for what is on its way; of a ramp again and again, with
/// more participants each time.
///
///     joining ──all in, or failed──▶ settling ──each track came everywhere──▶ measuring ──▶ draining ──▶ done
///        ▲                                                                                     │
///        └───────────────────────────── a ramp that holds: more join ──────────────────────────┘
public final class LoadRun {
  enum Phase { case joining, settling, measuring, draining, done }

  /// Called while it runs; to be set before.
  public var observer = LoadObserver()
  private let options: LoadOptions
  private let clips: [RecordedVideo]
  private let say: (String) -> Void
  private let clock = Clock()
  private let journal = Journal()
  private let dtls: DTLSContext
  private let entrance: Entrance
  private let reflector: ReflectorProbe
  private let media: any MediaCount
  private var participants: [Participant] = []
  /// The publishers of each room.
  private var rooms: [[Int]] = []
  private var phase = Phase.joining
  private var phaseEnd = Instant.never
  private var nextTick = Instant.never
  private var measuredFrom = Instant.never
  private var measuredTo = Instant.never
  private var results = LoadReport()

  private static let settleTime: Int64 = 10_000_000_000
  private static let drainTime: Int64 = 3_000_000_000
  private static let second: Int64 = 1_000_000_000

  /// - Parameter say: takes a line of progress.
  public init(_ options: LoadOptions, say: @escaping (String) -> Void) throws {
    self.options = options
    self.say = say
    guard options.media == nil || options.mediaAddress != nil else {
      throw LoadError("--media is address:port, not \(options.media ?? "")")
    }
    clips = try Clips.read(options.picture.files)
    let now = Self.unixSeconds()
    entrance = try Entrance(options, now: now)
    dtls = try DTLSContext(
      certificate: DTLSCertificate(notBefore: Int64(now) - 86_400, notAfter: Int64(now) + 30 * 86_400))
    reflector = try ReflectorProbe()
    let clock = clock
    media =
      options.picture.isReal
      ? try RealMedia(threads: Self.codecThreads, now: { clock.now })
      : PacketCount(tracks: options.tracksOfPublisher, unit: options.unit)
    results.unit = options.unit
    results.ramp = options.ramp.map { RampReport($0) }
    for _ in 0..<options.rooms { addRoom() }
  }

  /// Seconds since 1970.
  static func unixSeconds() -> Int { time(nil) }

  /// Of encoders and of decoders, each: the server and the sockets want processors as well.
  private static var codecThreads: Int { min(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2, 1), 8) }

  private func addRoom() {
    let publishers = Array(participants.count..<participants.count + options.publishers)
    for (place, number) in publishers.enumerated() {
      add(
        Participant.Role(
          room: rooms.count, publishesVideo: options.picture.isSent, publishesAudio: options.hasAudio,
          sources: options.isMesh ? publishers.filter { $0 != number } : [], place: place,
          door: options.joining.publishesByWHIP ? .whip : .native))
    }
    rooms.append(publishers)
    addSubscribers(options.subscribers, room: rooms.count - 1)
  }

  private func addSubscribers(_ count: Int, room: Int) {
    let door: Participant.Door = options.joining.subscribesByWHEP ? .whep : .native
    for _ in 0..<count { add(Participant.Role(room: room, sources: rooms[room], door: door)) }
  }

  private func add(_ role: Participant.Role) {
    let participant = Participant(number: participants.count, role: role, options: options, clips: clips)
    let number = participant.number
    participant.onSent = observer.sent.map { sent in { sent(number, $0) } }
    participants.append(participant)
    media.add(participant)
  }

  // MARK: The loop

  /// Runs to the end.
  public func run() throws -> LoadReport {
    guard let poller = Poller() else { throw LoadError.system("epoll_create1") }
    for participant in participants {
      let number = participant.number
      participant.onSent = observer.sent.map { sent in { sent(number, $0) } }
    }
    poller.add(entrance.descriptor, id: 0, .readable)
    poller.add(reflector.descriptor, id: 1, .readable)
    if let descriptor = media.descriptor { poller.add(descriptor, id: 2, .readable) }
    var batch = ReceiveBatch(capacity: 64)
    let began = clock.now
    entrance.open(now: began)
    nextTick = began.advanced(byNanoseconds: Self.second)
    while phase != .done {
      var now = clock.now
      entrance.begin(participants, now: now) { participant, local in
        participant.makeOffer(from: local, journal, dtls, now: now)
      }
      let count = poller.wait(until: nextDeadline(now), now: now, atMost: .seconds(1))
      for event in (0..<count).map({ poller[$0] }) {
        switch event.id {
        case 0: takeAnswers(poller)
        case 1: reflector.receive(&batch, clock.sample())
        // What is made or decoded is looked for in any case, below.
        case 2: break
        default: handle(event, poller, &batch)
        }
      }
      now = clock.now
      media.poll(now: now)
      for participant in participants where participant.deadline <= now { participant.poll(now: now) }
      reflector.poll(now: now)
      advance(now: now)
      if nextTick <= now { tick(now: now) }
    }
    entrance.stop()
    reflector.stop()
    media.stop()
    finish()
    for participant in participants { participant.end() }
    entrance.leave(participants, clock: { clock.now })
    return results
  }

  /// Delay and loss over time, after the run, as SVG.
  public var chart: String {
    let people =
      "publishers \(options.publishers), subscribers \(options.subscribers), rooms \(options.rooms)"
    return LoadChart(
      media.timeline, ramp: results.ramp, title: "Delay and loss of \(options.unit) (\(people))"
    ).svg
  }

  private func nextDeadline(_ now: Instant) -> Instant {
    var deadline = min(nextTick, phaseEnd, reflector.deadline, media.deadline)
    for participant in participants { deadline = min(deadline, participant.deadline) }
    deadline = min(deadline, entrance.deadline(of: participants.count))
    // Whether everybody has everything is looked at this often.
    if phase != .measuring { deadline = min(deadline, now.advanced(byNanoseconds: 20_000_000)) }
    return deadline
  }

  private func handle(_ event: Poller.Event, _ poller: borrowing Poller, _ batch: inout ReceiveBatch) {
    let (index, kind) = Int(event.id - Self.firstID).quotientAndRemainder(dividingBy: 2)
    let participant = participants[index]
    let now = clock.now
    guard kind == 1 else { return receive(participant, &batch) }
    participant.readMessages(now: now)
    participant.poll(now: now)
    if case .failed = participant.phase, let webSocket = participant.webSocket {
      poller.remove(webSocket.descriptor)
    }
  }

  /// Of participants' descriptors: media and WebSocket of each.
  private static let firstID: UInt64 = 4

  private func receive(_ participant: Participant, _ batch: inout ReceiveBatch) {
    guard let descriptor = participant.mediaDescriptor else { return }
    let sample = clock.sample()
    for index in 0..<batch.receive(descriptor) {
      guard let datagram = batch.datagram(index, port: 0, clock: sample) else { continue }
      participant.receive(
        Array(datagram.bytes), from: datagram.path.remote, arrival: datagram.arrival, now: sample.instant)
    }
    participant.poll(now: clock.now)
  }

  private func takeAnswers(_ poller: borrowing Poller) {
    for answer in entrance.takeAnswers() {
      let participant = participants[answer.participant]
      switch answer.result {
      case .failure(let error): participant.fail("\(error)")
      case .success(.session(let session)):
        addMedia(participant, poller)
        participant.join(by: session, now: clock.now)
      case .success(.webSocket(let webSocket)):
        participant.join(over: webSocket, journal: journal, dtls: dtls, now: clock.now)
        addMedia(participant, poller)
        poller.add(webSocket.descriptor, id: Self.id(participant) + 1, .readable)
        // With TLS, what came along with the handshake makes no descriptor readable.
        participant.readMessages(now: clock.now)
      }
    }
  }

  private static func id(_ participant: Participant) -> UInt64 { firstID + UInt64(participant.number * 2) }

  private func addMedia(_ participant: Participant, _ poller: borrowing Poller) {
    guard let descriptor = participant.mediaDescriptor else { return }
    poller.add(descriptor, id: Self.id(participant), .readable)
  }

  // MARK: Phases

  private func advance(now: Instant) {
    switch phase {
    case .joining:
      guard entrance.begun == participants.count, participants.allSatisfy(\.isDecided) else { return }
      enter(.settling, for: Int64(options.feedback.settle) * Self.second + Self.settleTime, now: now)
    case .settling:
      let isComplete = participants.allSatisfy { $0.phase != .connected || media.hasHeardAll($0.number) }
      guard isComplete && now >= phaseEnd.advanced(byNanoseconds: -Self.settleTime) || now >= phaseEnd else {
        return
      }
      measuredFrom = now
      media.begin(now: now)
      reflector.reset()
      observer.began()
      enter(.measuring, for: Int64(options.duration) * Self.second, now: now)
    case .measuring:
      guard now >= phaseEnd else { return }
      measuredTo = now
      observer.ended()
      media.end(now: now)
      enter(.draining, for: Self.drainTime, now: now)
    case .draining:
      guard media.isComplete || now >= phaseEnd else { return }
      finishSpan(now: now)
    case .done: break
    }
  }

  private func enter(_ next: Phase, for span: Int64, now: Instant) {
    phase = next
    phaseEnd = now.advanced(byNanoseconds: span)
  }

  /// What was measured goes into the report; a ramp goes on where nothing broke.
  private func finishSpan(now: Instant) {
    let span = media.finish(&results)
    results.seconds += Double(measuredTo.nanoseconds - measuredFrom.nanoseconds) / 1e9
    phase = .done
    guard results.ramp != nil, let ramp = options.ramp else { return }
    let from = media.timeline.place(of: measuredFrom)
    let step = RampStep(
      participants: participants.count, rooms: rooms.count, from: from,
      to: media.timeline.place(of: measuredTo), span,
      broke: ramp.verdict(span, failures: failures, participants: participants.count))
    results.ramp?.steps.append(step)
    if !options.output.isQuiet { say(step.text) }
    let more = ramp.unit == .rooms ? options.publishers + options.subscribers : rooms.count
    guard step.broke == nil, participants.count + ramp.step * more <= ramp.most else { return }
    switch ramp.unit {
    case .rooms: for _ in 0..<ramp.step { addRoom() }
    case .subscribers: for room in rooms.indices { addSubscribers(ramp.step, room: room) }
    }
    phase = .joining
    phaseEnd = .never
    entrance.open(now: now)
  }

  // MARK: Telling

  private var failures: [String: Int] {
    participants.reduce(into: [:]) { failures, participant in
      if case .failed(let reason) = participant.phase { failures[reason, default: 0] += 1 }
    }
  }

  private func tick(now: Instant) {
    nextTick = now.advanced(byNanoseconds: Self.second)
    for participant in participants { participant.peer?.forgetReceived(keeping: 4_096) }
    guard !options.output.isQuiet else { return }
    let inside = participants.count { $0.phase == .connected }
    let failed = failures.values.reduce(0, +)
    var line = "\(phase)"
    if phase == .measuring {
      line += " \((now.nanoseconds - measuredFrom.nanoseconds) / Self.second) of \(options.duration) s"
    }
    line += ", \(inside) of \(participants.count) in"
    if failed > 0 { line += ", \(failed) failed" }
    say(line + ", " + media.progress)
  }

  /// What isn't counted by span.
  private func finish() {
    var joins = LatencyHistogram()
    var first = LatencyHistogram()
    var pictures = LatencyHistogram()
    for participant in participants {
      results.participants += 1
      results.corrupt += participant.peer?.network.refusals.forged ?? 0
      results.foreign += participant.peer?.network.foreignPackets ?? 0
      participant.notePendingPing(now: clock.now)
      guard participant.connectedAt != .never else { continue }
      results.joined += 1
      joins.add(nanoseconds: participant.connectedAt.nanoseconds - participant.began.nanoseconds)
      guard participant.isReceiving else { continue }
      first.add(nanoseconds: participant.first.packetAt.nanoseconds - participant.began.nanoseconds)
      guard participant.first.pictureAt != .never else { continue }
      pictures.add(nanoseconds: participant.first.pictureAt.nanoseconds - participant.began.nanoseconds)
    }
    results.failures = failures
    results.times.reflector = LoadReport.Latency(reflector.latency)
    results.finishJoins(joins, first, pictures)
    results.finishPings(participants.map(\.pings))
    let lastJoin = participants.map(\.connectedAt).filter { $0 != .never }.max()
    results.times.joinSeconds =
      lastJoin.map { Double($0.nanoseconds - entrance.firstOpened.nanoseconds) / 1e9 } ?? 0
    results.violations = journal.violationCount
    results.firstViolations = Array(journal.violations.prefix(10))
  }
}
