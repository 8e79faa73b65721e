public import Model

/// What a path carries by what its remote says where it gives no arrival times: its own estimate, REMB
/// (draft-alvestrand-rmcat-remb-03), and the losses in its receiver reports (draft-ietf-rmcat-gcc-02 §6).
///
///     REMB ──▶ word ───────────┐
///     receiver reports ──▶ rate ──── the lesser ──▶ target
///
/// Fixed memory. A remote's word is of effect for what it gets itself, and for nothing else.
public struct ReportedRate: BitwiseCopyable, Sendable {
  /// An estimate that isn't repeated for so long is one no more; libwebrtc sends one a second.
  public static let wordLife = Duration.seconds(5)
  /// While packets leave and nothing at all is heard for so long, no more leaves than at the start: eight times the interval in
  /// which receivers report.
  public static let patience = Duration.seconds(8)
  /// Losses below are no reason to send less, those above are; between them nothing changes.
  private static let harmless = 0.02
  private static let harmful = 0.1
  /// A share a second.
  private static let growth = 0.08
  /// Never more than so many times what arrives or the start: a layer takes four or five times the one below it, and there is
  /// nothing to probe with.
  private static let reach = 8.0
  private static let leastPackets = 20.0
  /// Losses are weighed together for so long, however few packets there are.
  private static let longestSpan = Duration.seconds(4)
  /// Between two cuts, beside the round trip: what left before the first one is still reported on.
  private static let cutInterval = Duration.milliseconds(300)
  /// A word gains so much of itself in a second, or so many bits per second. What receivers find by themselves gains 0.08
  /// (draft-ietf-rmcat-gcc-02 §5.5).
  private static let (rise, leastRise) = (0.5, 500_000.0)
  /// Without harmful losses for so long, an estimate of the remote's is believed as it is.
  private static let trust = Duration.seconds(10)
  /// Receivers name 0.85 of what came at each hiccup of the delay (draft-ietf-rmcat-gcc-02 §5.5), and count no headers. While all arrives
  /// and no queue grows, an estimate of at least this share of it, less what headers of a stream take, takes away nothing that flows
  /// until it has lasted for `forgiveness`.
  private static let hiccup = 0.8
  private static let forgiveness = Duration.seconds(3)
  /// A round trip that is so much longer than the shortest tells of a queue.
  private static let queue = Duration.milliseconds(100)
  private static let headers = 30_000.0
  /// What flows is given so much more than it takes within a second.
  private static let peaks = 1.2

  private var word: Double?
  private var wordAt = Instant(nanoseconds: 0)
  /// What losses allow.
  private var rate = BandwidthEstimator.start
  private var heardAt: Instant?
  private var firstLeft: Instant?
  private var lastLeft: Instant?
  private var cutAt: Instant?
  /// What was reported since the last weighing.
  private var packets = 0.0
  private var lost = 0.0
  private var weighedAt: Instant?
  /// Bytes that have left, at the last weighing.
  private var bytes: UInt64 = 0
  /// What arrives, in bits per second, and until when that counts; nil: something is lost of it, or it isn't known.
  private var whole: (rate: Double, until: Instant)?
  /// Since when the word is less than what arrives.
  private var fellAt = Instant(nanoseconds: 0)
  private var isBelow = false
  private var shortestTrip: Duration?

  public init() {}

  // MARK: - What is known

  /// Bits per second that may be sent, with UDP and IP; nil: nothing is withheld, since neither losses nor the remote's own estimate
  /// are a reason, and there is nothing to find more with.
  public func target(now: Instant) -> Double? {
    let isSilent = isSilent(now)
    guard heardAt != nil else { return isSilent ? BandwidthEstimator.start : nil }
    guard cutAt != nil || estimate(now: now) != nil || isSilent else { return nil }
    let known = min(rate, estimate(now: now) ?? rate)
    return isSilent ? min(known, BandwidthEstimator.start) : known
  }

  /// The remote's own estimate, in bits per second; nil where it gives none, or none any more.
  public func estimate(now: Instant) -> Double? {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.staleEstimate) { return word }
    #endif
    guard now - wordAt < Self.wordLife, let word else { return nil }
    guard let whole, whole.until > now, word < whole.rate, isHiccup(word, of: whole.rate),
      now - fellAt < Self.forgiveness
    else { return word }
    return whole.rate * Self.peaks
  }

  private func isHiccup(_ word: Double, of rate: Double) -> Bool {
    word + Self.headers >= Self.hiccup * rate
  }

  private func isSilent(_ now: Instant) -> Bool {
    guard let firstLeft, let lastLeft else { return false }
    let since = heardAt.map { max($0, firstLeft) } ?? firstLeft
    return lastLeft - since >= Self.patience && now - since >= Self.patience
  }

  // MARK: - What is heard

  /// The remote says what it can take: believed at once where that is less than before, step by step where it is far more.
  /// - Parameters:
  ///   - bitsPerSecond: any; what is out of the estimator's bounds is taken for the nearest within.
  ///   - beside: bits per second that leave in streams of which it says nothing: it is for those that it names
  ///     (draft-alvestrand-rmcat-remb-03 §2.3).
  public mutating func take(estimate bitsPerSecond: UInt64, beside: Double = 0, now: Instant) {
    heardAt = now
    let said = Self.bounded(Double(bitsPerSecond) + beside)
    if now - wordAt < Self.wordLife, let old = word, said > old {
      let passed = min(max(Self.seconds(now - wordAt), 0), 1)
      word = min(said, old + rise(old, to: said) * passed)
    } else {
      word = said
    }
    wordAt = now
    noteFall(now)
    guard let word, cutAt.map({ now - $0 >= Self.trust }) ?? true else { return }
    rate = max(rate, word)
  }

  /// Bits per second that a word may gain in a second: by what it was. What is said has no part in it, or it would decide by itself how
  /// large a step is.
  private func rise(_ old: Double, to said: Double) -> Double {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.wordLeaps) { return (said - old) / 2 }
    #endif
    return max(old * Self.rise, Self.leastRise)
  }

  private mutating func noteFall(_ now: Instant) {
    let wasBelow = isBelow
    isBelow = if let whole, let word { word < whole.rate } else { false }
    if isBelow, !wasBelow { fellAt = now }
  }

  /// A receiver report.
  /// - Parameters:
  ///   - packets: that it speaks of, and that were sent.
  ///   - lost: of them, 0 to `packets`.
  public mutating func take(packets count: Double, lost gone: Double, now: Instant) {
    heardAt = now
    guard count > 0 else { return }
    // Whatever a report says, no remote gets more than that in a second.
    packets = min(packets + count, 1e6)
    lost = min(lost + min(max(gone, 0), count), packets)
  }

  /// Weighs what was reported; to be called about once a second.
  /// - Parameter sent: bytes that have ever left, with UDP and IP; where there are fewer than before, streams have ended.
  public mutating func weigh(sent: UInt64, roundTrip: Duration, now: Instant) {
    if sent != bytes {
      if firstLeft == nil { firstLeft = now }
      lastLeft = now
    }
    guard let since = weighedAt, now > since, sent >= bytes else {
      weighedAt = now
      bytes = sent
      return
    }
    let passed = Self.seconds(now - since)
    guard packets >= Self.leastPackets || packets > 0 && now - since >= Self.longestSpan else {
      if now - since >= Self.longestSpan { begin(sent, now) }
      return
    }
    let loss = lost / packets
    let arriving = Double(sent - bytes) * 8 / passed * (1 - loss)
    begin(sent, now)
    if roundTrip > .zero { shortestTrip = min(shortestTrip ?? roundTrip, roundTrip) }
    let queues = shortestTrip.map { roundTrip > $0 + Self.queue } ?? false
    whole = loss < Self.harmless && !queues ? (arriving, now + Self.wordLife) : nil
    if loss > Self.harmful {
      guard cutAt.map({ now - $0 >= Self.cutInterval + roundTrip }) ?? true else { return }
      // Until then nothing was withheld.
      if cutAt == nil { rate = Self.bounded(max(rate, arriving)) }
      cutAt = now
      // Half of the loss, and where far less arrives than was thought, no more than that.
      rate = Self.bounded(max(min(rate * (1 - loss / 2), arriving), rate / 2))
    } else if loss < Self.harmless {
      let most = Self.reach * max(arriving, BandwidthEstimator.start)
      let grown = min(rate * (1 + Self.growth * min(passed, 1)), most)
      // What has arrived whole is carried.
      rate = Self.bounded(max(rate, grown, arriving))
    }
  }

  private mutating func begin(_ sent: UInt64, _ now: Instant) {
    weighedAt = now
    bytes = sent
    packets = 0
    lost = 0
  }

  private static func seconds(_ span: Duration) -> Double { Double(span.wholeNanoseconds) / 1e9 }

  private static func bounded(_ rate: Double) -> Double {
    min(max(rate, BandwidthEstimator.bounds.lowerBound), BandwidthEstimator.bounds.upperBound)
  }
}

extension ReportedRate {
  private static let stateVersion: UInt8 = 1

  /// What is known; what was reported since it was weighed last is let go.
  public func encode(into writer: inout StateWriter) {
    writer.write(Self.stateVersion)
    writer.write(rate)
    writer.write(word != nil)
    writer.write(word ?? 0)
    writer.write(wordAt)
    for moment in [heardAt, firstLeft, lastLeft, cutAt] { writer.write(optional: moment) }
  }

  public init(from reader: inout StateReader) throws(StateError) {
    self.init()
    _ = try reader.version("reported rate", upTo: Self.stateVersion)
    rate = try Self.rate(from: &reader, "rate by losses")
    let hasWord = try reader.bool()
    let offset = reader.offset
    let said = try reader.double()
    guard !hasWord || BandwidthEstimator.bounds.contains(said) else {
      throw .invalid(field: "remote's estimate", offset: offset)
    }
    word = hasWord ? said : nil
    wordAt = try reader.instant()
    heardAt = try reader.optionalInstant()
    firstLeft = try reader.optionalInstant()
    lastLeft = try reader.optionalInstant()
    cutAt = try reader.optionalInstant()
  }

  private static func rate(from reader: inout StateReader, _ field: String) throws(StateError) -> Double {
    let offset = reader.offset
    let rate = try reader.double()
    guard BandwidthEstimator.bounds.contains(rate) else { throw .invalid(field: field, offset: offset) }
    return rate
  }
}
