internal import Crypto
package import Engine
internal import Glibc
package import Model
package import Negotiation
internal import Polling
package import Signalling
internal import Transport
internal import Wire

/// A session in a room, by the native protocol: its WebSocket, its UDP socket, and the loop that serves both on the thread that runs it.
///
///     WebSocket open ──joined──▶ offer ──answer──▶ ICE, DTLS ──connected──▶ media ──left or over──▶ end
package final class ClientSession {
  /// How it ended.
  package enum End: Equatable, Sendable {
    /// The task was done.
    case done
    /// A signal asked for it.
    case interrupted
    /// The server said so.
    case closed(LeaveReason)
  }

  /// Seconds until media has to flow.
  private static let patience = 30
  private static let longestWait = Duration.milliseconds(500)

  package let clock: Clock
  package private(set) var media: MediaEnd?
  private let terms: ClientTerms
  private let task: any ClientTask
  private let socket: ClientSocket
  private let line: SessionLine
  private let dtls: DTLSContext
  private var offers: MediaOffers
  private var plan = OfferPlan()
  private var mediaUntil = Instant.never
  private var end: End?
  private var wantsOffer = (plan: false, restart: false)
  private var requests = 1
  /// The offer that was made last, as it was sent.
  private var lastOffer = ""

  /// Opens the WebSocket; blocks until it is open.
  package init(_ terms: ClientTerms, _ task: any ClientTask, clock: Clock) throws(ClientError) {
    self.terms = terms
    self.task = task
    self.clock = clock
    socket = try ClientSocket(clock)
    line = try SessionLine(terms)
    let now = Int64(time(nil))
    do throws(OpenSSLError) {
      dtls = try DTLSContext(
        certificate: DTLSCertificate(notBefore: now - 86_400, notAfter: now + 365 * 86_400))
    } catch { throw .system("no certificate: \(error)") }
    var policy = NegotiationPolicy(
      usesTransportFeedback: false, videoCodecs: task.codecs,
      offeredExtensions: task.isReceiver ? [.audioLevel, .transportSequence, .mid] : [])
    policy.repairsSound = true
    offers = MediaOffers(
      policy, address: LocalAddress.of(line.descriptor).with(port: socket.port),
      fingerprint: dtls.certificate.fingerprint(.sha256))
  }

  /// Serves the session until it ends; then it has left.
  /// - Parameter signals: a descriptor that becomes readable when the session is to end.
  package func run(signals: Int32) throws(ClientError) -> End {
    guard let poller = Poller(),
      poller.add(socket.descriptor, id: 0, .readable), line.watch(poller),
      poller.add(signals, id: 2, .readable)
    else { throw .system("epoll: \(String(cString: strerror(errno)))") }
    defer { leave() }
    while true {
      if let end = try turn(poller) { return end }
      let now = clock.now
      let deadline = min(media?.deadline ?? .never, task.deadline, line.deadline, mediaUntil)
      let count = poller.wait(until: deadline, now: now, atMost: Self.longestWait)
      if (0..<count).contains(where: { poller[$0].id == 2 }) { return .interrupted }
    }
  }

  /// Does what is to be done now.
  private func turn(_ poller: borrowing Poller) throws(ClientError) -> End? {
    let now = clock.now
    if let media {
      socket.receive { media.receive($0, path: $1, arrival: $2, now: now) }
      media.poll(now: now)
    }
    for message in try line.read(poller, now: now) { try take(message.content, now: now) }
    if let end { return end }
    if try task.poll(self, now: now) { return .done }
    try sendOffer(now: now)
    media?.flush(socket.send)
    line.flush(now: now)
    try checkMedia(now: now)
    return nil
  }

  private func checkMedia(now: Instant) throws(ClientError) {
    guard let media else { return }
    if media.isConnected { mediaUntil = .never }
    switch media.ended {
    case .handshakeFailed: throw .connectionLost("the handshake of the media failed")
    case .neverConnected: throw .noMedia(seconds: Self.patience)
    case .connectionLost: throw .connectionLost("nothing came over the media's path any more")
    case nil: if mediaUntil <= now { throw .noMedia(seconds: Self.patience) }
    }
  }

  /// The one towards the server's WebSocket, and those of all interfaces: media may be elsewhere than the WebSocket is.
  private var addresses: [SocketAddress] {
    let first = LocalAddress.of(line.descriptor).with(port: socket.port)
    return [first] + HostAddresses.list(port: socket.port, includesLoopback: true).filter { $0 != first }
  }

  private func leave() {
    media?.sayFarewell()
    media?.flush(socket.send)
    line.close()
  }

  // MARK: - Messages

  package func send(_ content: ClientMessage.Content) { line.send(ClientMessage(content).json) }

  private func take(_ message: ServerMessage.Content, now: Instant) throws(ClientError) {
    switch message {
    case .joined:
      mediaUntil = now + .seconds(Self.patience)
      wantsOffer.plan = true
    case .answer(let answer): try accept(answer, now: now)
    case .resumed(let resumed):
      if offers.isPending {
        if let answer = resumed.answer?.answer { try accept(answer, now: now) } else { line.send(lastOffer) }
      }
      return try task.take(.slots(resumed.slots), self, now: now)
    case .offerWanted(let wanted):
      if wanted.reason == .iceRestart { wantsOffer.restart = true }
    case .error(let error):
      // One about an offer: there is nothing without it. Others are of requests that a task made.
      guard media == nil || offers.isPending else { return }
      throw .refused(error.code, message: error.message)
    case .closed(let reason): end = .closed(reason)
    default: break
    }
    try task.take(message, self, now: now)
  }

  // MARK: - Offers

  /// Has the next offer say so.
  package func change(_ plan: OfferPlan) {
    guard plan != self.plan else { return }
    self.plan = plan
    wantsOffer.plan = true
  }

  private func sendOffer(now: Instant) throws(ClientError) {
    guard wantsOffer.plan || wantsOffer.restart, !offers.isPending else { return }
    if media == nil { plan = task.plan }
    do throws(NegotiationError) {
      let offer = try offers.offer(plan, restartsICE: wantsOffer.restart && media != nil)
      wantsOffer = (false, false)
      lastOffer = ClientMessage(.offer(.init(sdp: offer.text)), id: RequestID(requests)).json
      line.send(lastOffer)
      requests += 1
    } catch { throw .system("no offer can be made: \(error)") }
  }

  private func accept(_ answer: ServerMessage.Answer, now: Instant) throws(ClientError) {
    let agreement: Agreement
    do {
      agreement = try offers.accept(
        terms.media.map { AnswerRewriting.withCandidate($0, answer.sdp) } ?? answer.sdp)
    } catch { throw .notRoost("\(error)") }
    if media == nil {
      guard let agreed = agreement.transport else {
        throw .declined(
          codec: task.codecs.first?.encodingName ?? "", word: answer.declined.first?.code ?? "refused")
      }
      let socket = socket
      media = MediaEnd(
        agreed, addresses: addresses, dtls: dtls,
        epoch: clock.epoch, now: now, whenFull: { socket.send(&$0) })
    }
    media?.apply(agreement, now: now)
  }
}
