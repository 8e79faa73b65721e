internal import AccessTokens
internal import Crypto
internal import Engine
internal import Glibc
internal import Model
internal import Polling
internal import SyntheticPeers
internal import WebSocketClient

/// Joins everybody, lets media flow, counts for the asked time, and waits for what is on its way.
///
///     joining ──all in, or failed──▶ settling ──each track came everywhere──▶ measuring ──▶ draining ──▶ done
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
  private let joiners: Joiners
  private let reflector: ReflectorProbe
  private let url: String
  private let tokenExpiry: Int
  private var participants: [Participant] = []
  private var counters: [SubscriberCounter] = []
  private var phase = Phase.joining
  private var phaseEnd = Instant.never
  private var begun = 0
  private var joinedFrom = Instant.never
  private var nextTick = Instant.never
  private var measuredFrom = Instant.never
  private var measuredTo = Instant.never

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
    guard let base = WebSocketURL(options.url) else { throw LoadError("not a server's URL: \(options.url)") }
    let scheme = base.isSecure ? "wss" : "ws"
    url = "\(scheme)://\(base.host):\(base.port)"
    clips = try Clips.read(options.picture.files)
    let now = Self.unixSeconds()
    tokenExpiry = now + 86_400
    dtls = try DTLSContext(
      certificate: DTLSCertificate(notBefore: Int64(now) - 86_400, notAfter: Int64(now) + 30 * 86_400))
    joiners = try Joiners()
    reflector = try ReflectorProbe()
    for room in 0..<options.rooms { addRoom(room) }
  }

  private static func unixSeconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int(time.tv_sec)
  }

  private func addRoom(_ room: Int) {
    let first = participants.count
    let publishers = Array(first..<first + options.publishers)
    for number in publishers {
      let sources = options.isMesh ? publishers.filter { $0 != number } : []
      add(
        number,
        Participant.Role(
          room: room, publishesVideo: options.picture.isSent, publishesAudio: options.hasAudio,
          sources: sources))
    }
    for offset in 0..<options.subscribers {
      add(first + options.publishers + offset, Participant.Role(room: room, sources: publishers))
    }
  }

  private func add(_ number: Int, _ role: Participant.Role) {
    let participant = Participant(number: number, role: role, options: options, clips: clips)
    let counter = SubscriberCounter(sources: role.sources, tracks: options.tracksOfPublisher)
    participants.append(participant)
    counters.append(counter)
    participant.onPacket = { [unowned self] arrival in take(arrival, counter) }
  }

  private func take(_ arrival: SyntheticPeer.MediaArrival, _ counter: SubscriberCounter) {
    guard participants.indices.contains(arrival.publisher) else { return }
    let sentAt = participants[arrival.publisher].peer?.sendTime(track: arrival.track, packet: arrival.packet)
    counter.note(arrival, sentAt: sentAt)
  }

  // MARK: The loop

  /// Runs to the end.
  public func run() throws -> LoadReport {
    guard let poller = Poller() else { throw LoadError.system("epoll_create1") }
    for participant in participants {
      let number = participant.number
      participant.onSent = observer.sent.map { sent in { sent(number, $0) } }
    }
    poller.add(joiners.descriptor, id: 0, .readable)
    poller.add(reflector.descriptor, id: 1, .readable)
    var batch = ReceiveBatch(capacity: 64)
    joinedFrom = clock.now
    nextTick = joinedFrom.advanced(byNanoseconds: Self.second)
    while phase != .done {
      var now = clock.now
      beginJoins(now: now)
      let count = poller.wait(until: nextDeadline(now), now: now, atMost: .seconds(1))
      for event in (0..<count).map({ poller[$0] }) {
        switch event.id {
        case 0: takeAnswers(poller)
        case 1: reflector.receive(&batch, clock.sample())
        default: handle(event, poller, &batch)
        }
      }
      now = clock.now
      for participant in participants where participant.deadline <= now { participant.poll(now: now) }
      reflector.poll(now: now)
      advance(now: now)
      if nextTick <= now { tick(now: now) }
    }
    joiners.stop()
    reflector.stop()
    for participant in participants { participant.end() }
    return report()
  }

  private func nextDeadline(_ now: Instant) -> Instant {
    var deadline = min(nextTick, phaseEnd, reflector.deadline)
    for participant in participants { deadline = min(deadline, participant.deadline) }
    if begun < participants.count { deadline = min(deadline, joinTime(begun)) }
    // Whether everybody has everything is looked at this often.
    if phase != .measuring { deadline = min(deadline, now.advanced(byNanoseconds: 20_000_000)) }
    return deadline
  }

  private func handle(_ event: Poller.Event, _ poller: borrowing Poller, _ batch: inout ReceiveBatch) {
    let (index, kind) = Int(event.id - 2).quotientAndRemainder(dividingBy: 2)
    let participant = participants[index]
    let now = clock.now
    guard kind == 1 else { return receive(participant, &batch) }
    participant.readMessages(now: now)
    participant.poll(now: now)
    if case .failed = participant.phase, let webSocket = participant.webSocket {
      poller.remove(webSocket.descriptor)
    }
  }

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

  // MARK: Joining

  private func joinTime(_ index: Int) -> Instant {
    joinedFrom.advanced(byNanoseconds: Int64(Double(index) / options.joinRate * 1e9))
  }

  private func beginJoins(now: Instant) {
    while begun < participants.count, joinTime(begun) <= now {
      let participant = participants[begun]
      begun += 1
      participant.beginJoin(now: now)
      let room = "\(options.names.room)-\(participant.role.room + 1)"
      let token = AccessToken(
        apiKey: options.apiKey, identity: "\(options.names.identity)-\(participant.number)",
        expires: tokenExpiry,
        grants: .join(room))
      guard let target = WebSocketURL("\(url)/v1/rooms/\(Percent.encode(room))/connect") else {
        participant.fail("no URL for the room")
        continue
      }
      joiners.add(
        Joiners.Request(
          participant: participant.number, url: target, token: token.signed(secret: options.secret),
          milliseconds: options.joinTimeout * 1_000, checksCertificate: options.checksCertificate))
    }
  }

  private func takeAnswers(_ poller: borrowing Poller) {
    for answer in joiners.takeAnswers() {
      let participant = participants[answer.participant]
      switch answer.result {
      case .failure(let error): participant.fail("\(error)")
      case .success(let webSocket):
        participant.join(over: webSocket, journal: journal, dtls: dtls, now: clock.now)
        let id = UInt64(participant.number * 2 + 2)
        if let descriptor = participant.mediaDescriptor { poller.add(descriptor, id: id, .readable) }
        poller.add(webSocket.descriptor, id: id + 1, .readable)
        // With TLS, what came along with the handshake makes no descriptor readable.
        participant.readMessages(now: clock.now)
      }
    }
  }

  // MARK: Phases

  private func advance(now: Instant) {
    switch phase {
    case .joining:
      guard begun == participants.count, participants.allSatisfy(\.isDecided) else { return }
      enter(.settling, for: Int64(options.feedback.settle) * Self.second + Self.settleTime, now: now)
    case .settling:
      let isComplete = counters.indices.allSatisfy {
        participants[$0].phase != .connected || counters[$0].hasHeardAll
      }
      guard isComplete && now >= phaseEnd.advanced(byNanoseconds: -Self.settleTime) || now >= phaseEnd else {
        return
      }
      measuredFrom = now
      for (index, counter) in counters.enumerated() {
        counter.isMeasured = participants[index].phase == .connected
        counter.begin { self.packetsMade($0, $1) }
      }
      reflector.reset()
      observer.began()
      enter(.measuring, for: Int64(options.duration) * Self.second, now: now)
    case .measuring:
      guard now >= phaseEnd else { return }
      measuredTo = now
      observer.ended()
      for counter in counters { counter.end { self.packetsMade($0, $1) } }
      enter(.draining, for: Self.drainTime, now: now)
    case .draining:
      let isComplete = counters.allSatisfy { $0.isComplete }
      guard isComplete || now >= phaseEnd else { return }
      phase = .done
    case .done: break
    }
  }

  private func enter(_ next: Phase, for span: Int64, now: Instant) {
    phase = next
    phaseEnd = now.advanced(byNanoseconds: span)
  }

  private func packetsMade(_ publisher: Int, _ track: Int) -> Int {
    participants[publisher].peer?.packetsMade(track: track) ?? 0
  }

  // MARK: Telling

  private func tick(now: Instant) {
    nextTick = now.advanced(byNanoseconds: Self.second)
    for participant in participants { participant.peer?.forgetReceived(keeping: 4_096) }
    guard !options.isQuiet else { return }
    let inside = participants.count { $0.phase == .connected }
    let failed = participants.count { if case .failed = $0.phase { true } else { false } }
    var line = "\(phase)"
    if phase == .measuring {
      line += " \((now.nanoseconds - measuredFrom.nanoseconds) / Self.second) of \(options.duration) s"
    }
    line += ", \(inside) of \(participants.count) in"
    if failed > 0 { line += ", \(failed) failed" }
    let arrived = counters.reduce(0) { $0 + $1.received }
    say(line + ", \(arrived) packets received")
  }

  private func report() -> LoadReport {
    var report = LoadReport()
    report.seconds = Double(measuredTo.nanoseconds - measuredFrom.nanoseconds) / 1e9
    for counter in counters where counter.isMeasured { counter.add(to: &report) }
    report.sent = sentInSpan()
    report.finishLatency(counters.filter(\.isMeasured).map(\.latency), reflector: reflector.latency)
    var joins = LatencyHistogram()
    var media = LatencyHistogram()
    for participant in participants {
      report.participants += 1
      report.corrupt += participant.peer?.network.refusals.forged ?? 0
      if case .failed(let reason) = participant.phase { report.failures[reason, default: 0] += 1 }
      guard participant.connectedAt != .never else { continue }
      joins.add(nanoseconds: participant.connectedAt.nanoseconds - participant.began.nanoseconds)
      guard participant.isReceiving else { continue }
      media.add(nanoseconds: participant.firstMediaAt.nanoseconds - participant.began.nanoseconds)
    }
    report.joined = participants.count { $0.connectedAt != .never }
    report.finishJoins(joins, media)
    for participant in participants {
      participant.notePendingPing(now: clock.now)
      report.foreign += participant.peer?.network.foreignPackets ?? 0
    }
    report.finishPings(participants.map(\.pings))
    let lastJoin = participants.map(\.connectedAt).filter { $0 != .never }.max()
    report.times.joinSeconds = lastJoin.map { Double($0.nanoseconds - joinedFrom.nanoseconds) / 1e9 } ?? 0
    report.violations = journal.violationCount
    report.firstViolations = Array(journal.violations.prefix(10))
    return report
  }

  /// Packets that publishers made in the measured span.
  private func sentInSpan() -> Int {
    var spans: [SubscriberCounter.Source: Int] = [:]
    for counter in counters { spans.merge(counter.spans) { first, _ in first } }
    return spans.values.reduce(0, +)
  }
}

/// A room's name in a path.
enum Percent {
  static func encode(_ text: String) -> String {
    text.utf8.map { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: String(UnicodeScalar(byte))
      default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }.joined()
  }
}
