internal import AccessTokens
internal import Client
internal import Crypto
internal import Engine
internal import Model
internal import Polling
internal import SyntheticPeers
internal import WebSocketClient

/// One participant in the room of a call: what came of the other's sound, and who is to hear what became of it.
final class CallSeat {
  let participant: Participant
  private(set) var sound = SoundSpan()
  /// Called where it is in and hears the other, and where it has failed.
  var changed: (_ now: Instant) -> Void = { _ in }
  private var isSettled = false

  init(_ participant: Participant) {
    self.participant = participant
    participant.onPacket = { [unowned self] arrival in
      sound.note(arrival.packet, of: arrival.publisher, isRepeat: arrival.isRepeat)
    }
  }

  /// Media stands, and something of the other has come.
  var isIn: Bool { participant.phase == .connected && participant.isReceiving }
  /// Why it isn't in any more.
  var failure: String? {
    if case .failed(let reason) = participant.phase { return reason }
    return nil
  }

  /// Looks whether something has become of it.
  func look(now: Instant) {
    guard failure != nil || isIn && !isSettled else { return }
    isSettled = true
    changed(now)
  }
}

/// The participants of all calls, each with its sockets: they come as the calls want it. It belongs to the run's thread.
final class CallMedia {
  private let options: LoadOptions
  private let clock: Clock
  private let poller: Poller
  private let joiners: Joiners
  private let dtls: DTLSContext
  private let base: WebSocketURL
  private var seats: [Int: CallSeat] = [:]
  private var journals: [Int: Journal] = [:]
  private var count = 0
  private var batch = ReceiveBatch(capacity: 64)
  private var nextLook = Instant.never
  private var lastLook = Instant(nanoseconds: 0)

  /// What is due is looked for so often: sound may be late by that much.
  private static let pace: Int64 = 2_000_000
  /// Of joiners and of what the run waits for.
  private static let firstID: UInt64 = 2

  init(_ options: LoadOptions, clock: Clock, now seconds: Int) throws {
    guard let base = WebSocketURL(options.url) else { throw LoadError("not a server's URL: \(options.url)") }
    guard let opened = Poller() else { throw LoadError.system("epoll_create1") }
    self.options = options
    self.clock = clock
    self.base = base
    poller = consume opened
    joiners = try Joiners()
    dtls = try DTLSContext(
      certificate: DTLSCertificate(
        notBefore: Int64(seconds) - 86_400, notAfter: Int64(seconds) + 30 * 86_400))
    poller.add(joiners.descriptor, id: 0, .readable)
  }

  /// Ends a wait as well.
  func watch(_ descriptor: Int32) { poller.add(descriptor, id: 1, .readable) }

  /// Lets one in, who publishes sound and hears the other's.
  func seat(token: String, room: String, journal: Journal, now: Instant) -> CallSeat? {
    let server = "\(base.isSecure ? "s" : "")://\(base.host):\(base.port)"
    guard let url = WebSocketURL("ws\(server)/v1/rooms/\(Percent.encode(room))/connect") else { return nil }
    count += 1
    let role = Participant.Role(room: 0, publishesAudio: true, sources: [0])
    let seat = CallSeat(Participant(number: count, role: role, options: options))
    seats[count] = seat
    journals[count] = journal
    seat.participant.beginJoin(now: now)
    note(seat)
    joiners.add(
      Joiners.Request(
        participant: count, place: .webSocket(url), token: token,
        milliseconds: options.joining.timeout * 1_000, checksCertificate: options.checksCertificate))
    return seat
  }

  /// It leaves.
  func end(_ seat: CallSeat) {
    let participant = seat.participant
    guard seats.removeValue(forKey: participant.number) != nil else { return }
    journals[participant.number] = nil
    if let webSocket = participant.webSocket { poller.remove(webSocket.descriptor) }
    if let descriptor = participant.mediaDescriptor { poller.remove(descriptor) }
    participant.end()
  }

  var seatCount: Int { seats.count }

  // MARK: The loop

  /// Waits for what comes, and does what is due.
  func advance(until deadline: Instant) {
    let began = clock.now
    for event in (0..<poller.wait(until: min(deadline, nextLook), now: began)).map({ poller[$0] }) {
      switch event.id {
      case 0: takeAnswers()
      // The run asks in any case.
      case 1: break
      default: handle(event)
      }
    }
    let now = clock.now
    guard nextLook <= now else { return }
    lastLook = now
    nextLook = .never
    for seat in Array(seats.values) {
      if seat.participant.deadline <= now { poll(seat, now) }
      note(seat)
    }
  }

  private func poll(_ seat: CallSeat, _ now: Instant) {
    seat.participant.poll(now: now)
    seat.look(now: now)
  }

  private func note(_ seat: CallSeat) {
    let next = max(seat.participant.deadline, lastLook.advanced(byNanoseconds: Self.pace))
    nextLook = min(nextLook, next)
  }

  private func handle(_ event: Poller.Event) {
    let (number, kind) = Int(event.id - Self.firstID).quotientAndRemainder(dividingBy: 2)
    guard let seat = seats[number] else { return }
    if kind == 0 {
      receive(seat)
    } else {
      let now = clock.now
      seat.participant.readMessages(now: now)
      if seat.failure == nil { seat.participant.poll(now: now) }
    }
    seat.look(now: clock.now)
    if seats[number] != nil { note(seat) }
  }

  private func receive(_ seat: CallSeat) {
    guard let descriptor = seat.participant.mediaDescriptor else { return }
    let sample = clock.sample()
    for index in 0..<batch.receive(descriptor) {
      guard let datagram = batch.datagram(index, port: 0, clock: sample) else { continue }
      seat.participant.receive(
        Array(datagram.bytes), from: datagram.path.remote, arrival: datagram.arrival, now: sample.instant)
    }
    // What it has to send for that goes with the rest, unless it is about the connection itself.
    if seat.participant.phase != .connected || !seat.participant.isReceiving
      || seat.participant.deadline <= sample.instant
    {
      seat.participant.poll(now: clock.now)
    }
  }

  private func takeAnswers() {
    for answer in joiners.takeAnswers() {
      guard let seat = seats[answer.participant], let journal = journals[answer.participant] else {
        // Its call is over already.
        if case .success(.webSocket(let webSocket)) = answer.result { webSocket.close() }
        continue
      }
      let now = clock.now
      let participant = seat.participant
      switch answer.result {
      case .success(.webSocket(let webSocket)):
        participant.join(over: webSocket, journal: journal, dtls: dtls, now: now)
        let id = Self.firstID + UInt64(participant.number) * 2
        if let descriptor = participant.mediaDescriptor { poller.add(descriptor, id: id, .readable) }
        poller.add(webSocket.descriptor, id: id + 1, .readable)
        // With TLS, what came along with the handshake makes no descriptor readable.
        participant.readMessages(now: now)
      case .success(.session): preconditionFailure("no session was asked for")
      case .failure(let error): participant.fail("\(error)")
      }
      seat.look(now: now)
      if seats[answer.participant] != nil { note(seat) }
    }
  }

  func stop() {
    joiners.stop()
    for seat in Array(seats.values) { end(seat) }
  }
}
