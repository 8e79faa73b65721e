internal import HTTPClient
internal import Model

/// One device's ear: its person's events, read on from where a stream broke off.
final class CallListener {
  enum Heard {
    case state(CallStateFacts)
    case ring(RingFacts)
    case callEnded(CallFacts)
  }

  private let clerk: CallClerk
  private let token: String
  private let device: String
  /// Whether a stream that breaks off is opened again.
  private let resumes: Bool
  private var stream: Int?
  private var lastID = ""
  private(set) var ledger = RingLedger()
  private(set) var isListening = false
  /// Streams that were opened again.
  private(set) var resumptions = 0
  var onHeard: (Heard, Instant) -> Void = { _, _ in }
  /// It hears nothing any more.
  var onDeaf: (String, Instant) -> Void = { _, _ in }

  private static let pause: Int64 = 250_000_000

  init(_ clerk: CallClerk, token: String, device: String, resumes: Bool) {
    self.clerk = clerk
    self.token = token
    self.device = device
    self.resumes = resumes
  }

  func open() {
    guard stream == nil else { return }
    stream = clerk.listen(
      token: token, device: device, after: lastID,
      heard: { [weak self] events, now in
        for event in events { self?.take(event, now) }
      },
      closed: { [weak self] reason, now in self?.closed(reason, now) })
    isListening = true
  }

  func close() {
    isListening = false
    if let stream { clerk.unlisten(stream) }
    stream = nil
  }

  private func closed(_ reason: String, _ now: Instant) {
    stream = nil
    guard isListening else { return }
    // Too many at once may be fewer a little later.
    guard resumes || reason == "status 429" || reason == "status 503" else {
      isListening = false
      return onDeaf(reason, now)
    }
    resumptions += 1
    clerk.agenda.add(at: now.advanced(byNanoseconds: Self.pause)) { [weak self] _ in
      guard let self, isListening else { return }
      open()
    }
  }

  private func take(_ event: ServerSentEvent, _ now: Instant) {
    guard isListening else { return }
    // The last word of a server that stops has no number.
    guard event.type != "end" else { return }
    lastID = event.id
    ledger.noteEvent(event.id, isState: event.type == "state")
    switch event.type {
    case "state":
      if let facts = CallJSON.read(CallStateFacts.self, event.data.utf8) { onHeard(.state(facts), now) }
    case "call.ringing":
      guard let facts = CallJSON.read(RingFacts.self, event.data.utf8) else { return }
      if ledger.noteRing(facts.ringId) { onHeard(.ring(facts), now) }
    case "ring.ended":
      if let facts = CallJSON.read(RingEndFacts.self, event.data.utf8) { ledger.noteEnd(of: facts.ringId) }
    case "call.ended":
      if let facts = CallJSON.read(CallFacts.self, event.data.utf8) { onHeard(.callEnded(facts), now) }
    default: break
    }
  }
}
