internal import Model
internal import Polling
internal import SyntheticPeers

/// Sends moving pictures and tones, and counts those that come out of decoders as they went into encoders.
///
///     Encoders ──mailbox──▶ publishers' peers ──server──▶ Viewer ──▶ Decoders ──mailbox──▶ Viewer
final class RealMedia: MediaCount {
  private let encoders: Encoders
  private let decoders: Decoders
  private let made: Mailbox<Made>
  private let results: Mailbox<Decoded>
  private let wakeup: Wakeup
  private var participants: [Participant] = []
  /// By number; for those that publish nothing, too.
  private var published: [PublishedMedia] = []
  private var viewers: [Int: Viewer] = [:]
  private(set) var timeline = Timeline()
  private var nextLook = Instant(nanoseconds: 0)
  /// Of all spans.
  private var delay = LatencyHistogram()
  private var decoding = LatencyHistogram()

  /// How often it looks who has joined, and where key frames are needed.
  private static let lookInterval: Int64 = 20_000_000

  /// - Parameter threads: for encoders and for decoders, each.
  init(threads: Int, now: @escaping @Sendable () -> Instant) throws(LoadError) {
    let wakeup = Wakeup()
    guard wakeup.descriptor >= 0 else { throw LoadError.system("eventfd") }
    self.wakeup = wakeup
    // How much waits is bounded by those that encode and decode; a frame that is left out would break all that follow.
    let made = Mailbox<Made>(limit: .max, wake: { wakeup.signal() })
    let results = Mailbox<Decoded>(limit: .max, wake: { wakeup.signal() })
    self.made = made
    self.results = results
    encoders = try Encoders(threads: threads, now: now, made: { made.post($0) })
    decoders = try Decoders(threads: threads, now: now, decoded: { results.post($0) })
  }

  var descriptor: Int32? { wakeup.descriptor }
  var deadline: Instant { nextLook }
  var progress: String {
    let corrupt = viewers.values.reduce(0) { $0 + $1.corrupt }
    return "\(viewers.values.reduce(0) { $0 + $1.shown }) pictures right"
      + (corrupt > 0 ? ", \(corrupt) corrupt" : "")
  }

  func add(_ participant: Participant) {
    participants.append(participant)
    published.append(PublishedMedia())
    let number = participant.number
    participant.onKeyFrameRequest = { [unowned self] in encoders.post(.keyFrame(publisher: number)) }
    guard !participant.role.sources.isEmpty else { return }
    let viewer = Viewer(participant)
    viewers[number] = viewer
    participant.onPayload = { [unowned self] in take($0, viewer) }
  }

  private func take(_ payload: EncodedPayload, _ viewer: Viewer) {
    viewer.take(
      payload, now: payload.at, tone: { self.tone(of: $0) },
      decode: { decoders.post($0) })
  }

  private func tone(of publisher: Int) -> Tone? {
    participants.indices.contains(publisher) ? Tone(place: participants[publisher].role.place) : nil
  }

  // MARK: What is due

  func poll(now: Instant) {
    wakeup.clear()
    for made in made.take() { take(made, now: now) }
    for decoded in results.take() {
      viewers[decoded.name.subscriber]?.take(
        decoded, captured: { published.indices.contains($0) ? published[$0].captured : [] },
        verified: { timeline.note(arrivalOf: $0, delay: $1) })
    }
    guard nextLook <= now else { return }
    nextLook = now.advanced(byNanoseconds: Self.lookInterval)
    for participant in participants where participant.role.publishesVideo {
      beginOrEnd(participant, now: now)
    }
    for viewer in viewers.values where viewer.requestKeyFrames(now: now) { viewer.participant.poll(now: now) }
  }

  private func beginOrEnd(_ participant: Participant, now: Instant) {
    let number = participant.number
    switch participant.phase {
    case .connected where !published[number].hasBegun:
      published[number].hasBegun = true
      encoders.post(.begin(publisher: number, place: participant.role.place, at: now))
    case .failed where published[number].hasBegun && !published[number].hasEnded:
      published[number].hasEnded = true
      encoders.post(.end(publisher: number))
    default: break
    }
  }

  private func take(_ made: Made, now: Instant) {
    switch made {
    case .picture(let publisher, let number, let frame):
      let isSent = participants[publisher].send(frame, now: now)
      published[publisher].note(picture: number, capturedAt: isSent ? frame.capturedAt : nil)
      // What follows refers to it.
      if !isSent { encoders.post(.keyFrame(publisher: publisher)) }
    case .sound(let publisher, let frame):
      if participants[publisher].send(frame, now: now) { published[publisher].noteSound() }
    case .missed(let publisher): published[publisher].missed += 1
    case .failed(let publisher, let error): participants[publisher].fail("can't encode: \(error)")
    }
  }

  // MARK: Spans

  func hasHeardAll(_ participant: Int) -> Bool { viewers[participant]?.hasSeenAll ?? true }

  func begin(now: Instant) {
    timeline.begin(now: now)
    for index in published.indices { published[index].begin() }
    for viewer in viewers.values {
      viewer.isMeasured = viewer.participant.phase == .connected
      viewer.begin(next: { published[$0].captured.count }, now: now)
    }
  }

  func end(now: Instant) {
    for index in published.indices { published[index].end() }
    for viewer in viewers.values {
      viewer.end(next: { published[$0].captured.count }, now: now)
      guard viewer.isMeasured else { continue }
      for publisher in viewer.shares.keys {
        for moment in published[publisher].capturedInSpan { timeline.note(expected: 1, madeAt: moment) }
      }
    }
  }

  var isComplete: Bool {
    viewers.values.allSatisfy { viewer in
      !viewer.isMeasured
        || viewer.shares.allSatisfy { $1.pictures.verified >= published[$0].capturedInSpan.count }
    }
  }

  func finish(_ report: inout LoadReport) -> MeasuredSpan {
    var real = report.real ?? RealReport()
    var span = MeasuredSpan()
    real.subscribers = []
    (real.faults, real.neverRight, real.pictures.corrupt) = ([:], 0, 0)
    for number in viewers.keys.sorted() {
      guard let viewer = viewers[number] else { continue }
      add(viewer, to: &real, &span)
    }
    span.sent = published.reduce(0) { $0 + $1.capturedInSpan.count }
    real.sent += span.sent
    span.missed += published.reduce(0) { $0 + $1.missedInSpan }
    real.missed += span.missed
    delay.merge(span.delay)
    decoding.merge(span.decoding)
    real.delay = LoadDelay(delay)
    real.decoding = LoadDelay(decoding)
    report.foreign = viewers.values.reduce(0) { $0 + $1.foreign }
    report.real = real
    return span
  }

  private func add(_ viewer: Viewer, to real: inout RealReport, _ span: inout MeasuredSpan) {
    real.pictures.corrupt += viewer.corrupt
    real.faults.merge(viewer.faults, uniquingKeysWith: +)
    guard viewer.isMeasured else { return }
    var subscriber = RealReport.Subscriber()
    subscriber.participant = viewer.participant.number
    subscriber.pictures.corrupt = viewer.corrupt
    subscriber.delay = LoadDelay(viewer.delay)
    for (publisher, share) in viewer.shares {
      subscriber.pictures.expected += published[publisher].capturedInSpan.count
      subscriber.pictures.verified += share.pictures.verified
      subscriber.pictures.freezes += share.pictures.freezes
      subscriber.pictures.frozenSeconds += Double(share.pictures.frozen) / 1e9
      subscriber.tones.expected += published[publisher].soundsInSpan
      subscriber.tones.right += share.right
      subscriber.tones.wrong += share.wrong
      real.neverRight += (share.pictures.seen == 0 ? 1 : 0) + (share.heard == 0 ? 1 : 0)
    }
    real.subscribers.append(subscriber)
    real.pictures.expected += subscriber.pictures.expected
    real.pictures.verified += subscriber.pictures.verified
    real.pictures.freezes += subscriber.pictures.freezes
    real.pictures.frozenSeconds += subscriber.pictures.frozenSeconds
    real.tones.expected += subscriber.tones.expected
    real.tones.right += subscriber.tones.right
    real.tones.wrong += subscriber.tones.wrong
    span.expected += subscriber.pictures.expected
    span.arrived += subscriber.pictures.verified
    span.delay.merge(viewer.delay)
    span.missed += viewer.overruns
    span.decoding.merge(viewer.decoding)
  }

  func stop() {
    encoders.stop()
    decoders.stop()
  }
}
