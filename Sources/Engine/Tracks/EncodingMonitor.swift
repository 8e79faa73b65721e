internal import Congestion
internal import Model

/// Whether an encoding of a track comes, and what its layers cost, by what its feed counts. Looked at ten times a second, at the
/// worker that has the publisher.
struct EncodingMonitor {
  static let interval = RateMeter.interval
  /// A stream of few pictures is not silent between two of them.
  private static let silence = Duration.milliseconds(500)
  private static let silentFrames = 5
  private static let window = 10

  private var bytes: UInt64 = 0
  private var frames: UInt64 = 0
  /// By layer, as `LayerCounts` has them; of those that have come.
  private var meters: [RateMeter?] = Array(repeating: nil, count: LayerCounts.spatial * LayerCounts.temporal)
  /// Of the last second, looked at by turns.
  private var frameSpans: InlineArray<10, UInt8> = InlineArray(repeating: 0)
  private var turn = 0
  private var framesPerSecond = 0
  private var rates = FrameRates()
  private var announced: EncodingAnnouncement?
  private var expected = ExpectedLayers()
  /// Sending it is of no use: it was not watched for a while, and its publisher has been given word of that.
  private(set) var isOff = false
  /// Since when it is off, and since when it comes.
  private var since = (off: Instant(nanoseconds: .min / 2), flowing: Instant(nanoseconds: .min / 2))
  private var lastWatched: Instant?
  /// What is known of its layers stays as it was while it was watched: it is off, or hasn't come for a second since.
  private var isKept = false
  private var cameBack: Instant?
  private var wasWatched = false
  private var sampledAt: Instant?
  /// It was to come and didn't: its publisher has no room for it, and it isn't tried again soon.
  private var failedAt = Instant(nanoseconds: .min / 2)
  private var onSince = Instant(nanoseconds: .min / 2)
  private(set) var lastHeard = Instant(nanoseconds: .min / 2)
  private(set) var layers = EncodingLayers()

  init() {}

  /// Takes what the feed has counted by now, and what packets say of the encoding. Of sizes what is announced counts more than what
  /// frames say; of rates what is measured.
  mutating func sample(
    _ counts: LayerCounts, frames count: UInt64, _ description: EncodingDescription, now: Instant
  ) {
    announced = description.announced
    guard sampledAt != nil else { return begin(counts, frames: count, description, now: now) }
    let total = counts.total
    if total != bytes {
      if now - lastHeard >= Self.measured { since.flowing = now }
      lastHeard = now
      comeBack(now: now)
    }
    bytes = total
    let passed = sampledAt.map { (now - $0).wholeNanoseconds / Self.interval.wholeNanoseconds } ?? 1
    sampledAt = now
    frameSpans[turn] = UInt8(clamping: count &- frames)
    turn = (turn + 1) % Self.window
    // As it was while it came.
    if count != frames {
      framesPerSecond = 0
      for index in 0..<Self.window { framesPerSecond += Int(frameSpans[index]) }
    }
    frames = count
    rates.sample(counts)
    measure(counts, intervals: Int(max(1, min(passed, 1_000))), now: now)
    describe(description, now: now)
  }

  /// The first look. What the feed has counted before, for a monitor of before, came at no known time.
  private mutating func begin(
    _ counts: LayerCounts, frames count: UInt64, _ description: EncodingDescription, now: Instant
  ) {
    sampledAt = now
    (bytes, frames) = (counts.total, count)
    if bytes > 0 { lastHeard = now }
    for place in meters.indices {
      let base = counts[place / LayerCounts.temporal, place % LayerCounts.temporal]
      if base > 0 { meters[place] = RateMeter(base: base) }
    }
    describe(description, now: now)
  }

  /// It has come again after it was off: for a second its rates are of a time that was in part silent.
  private mutating func comeBack(now: Instant) {
    guard isKept, !isOff else { return }
    if let cameBack, now - cameBack >= Self.measured { isKept = false }
    if cameBack == nil { cameBack = now }
  }
  private static let measured = Duration.seconds(1)

  /// Adds what isn't measured: sizes and frame rates, and layers that are announced and don't flow yet.
  private mutating func describe(_ description: EncodingDescription, now: Instant) {
    expected.begin()
    for spatial in 0..<LayerCounts.spatial {
      let flows = layers.layers.contains { $0.spatial == spatial }
      let rates = announced?.rates(spatial: spatial, description.codec) ?? []
      let isNew = expected.look(spatial, isAnnounced: !rates.isEmpty, flows: flows && hasCome, now: now)
      guard isNew || flows else { continue }
      for new in rates
      where !layers.layers.contains(where: { $0.spatial == new.spatial && $0.temporal == new.temporal }) {
        layers.layers.append(new)
      }
    }
    // It is off, and was before anything of it was measured: as it is known by nothing else, it counts as what is usual.
    #if PLANTED_DEFECTS
      let isUnknown = isOff && layers.layers.isEmpty && !PlantedDefect.isOn(.unmeasuredNeverShown)
    #else
      let isUnknown = isOff && layers.layers.isEmpty
    #endif
    if isUnknown { layers.layers = [Self.usual(description)] }
    layers.layers.sort { ($0.spatial, $0.temporal) < ($1.spatial, $1.temporal) }
    for index in layers.layers.indices {
      let spatial = Int(layers.layers[index].spatial)
      let said = announced?.layers[spatial].picture ?? PictureSize()
      layers.layers[index].picture = said.pixels > 0 ? said : description.picture(spatial: spatial)
      if let rate = rates.upTo(temporal: Int(layers.layers[index].temporal)) {
        layers.layers[index].frameRate = rate
      }
      layers.layers[index].assumed =
        isBrief(layers.layers[index]) ? assumed(layers.layers[index], description) : 0
    }
    // What was said with an offer is of the best layer.
    #if PLANTED_DEFECTS
      let best = PlantedDefect.isOn(.saidSizeUnused) ? nil : layers.layers.last?.spatial
    #else
      let best = layers.layers.last?.spatial
    #endif
    for index in layers.layers.indices
    where layers.layers[index].picture.pixels == 0 && layers.layers[index].spatial == best {
      layers.layers[index].picture = description.said
    }
    let seen = description.picture.pixels > 0 ? description.picture : description.said
    layers.picture = layers.layers.last?.picture ?? seen
  }

  /// Nothing is known of a layer's worst yet: it counts as what is announced, or else as what is usual.
  private func assumed(_ layer: LayerRate, _ description: EncodingDescription) -> UInt32 {
    let said = announced?.rates(spatial: Int(layer.spatial), description.codec)
      .first { $0.temporal == layer.temporal }?.peak
    let usual = UsualRate.bits(pixels: layer.picture.pixels, frameRate: 0, description.codec ?? .vp8)
    return max(layer.peak, said ?? Self.bits(usual))
  }

  private func isBrief(_ layer: LayerRate) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.briefRateBelieved) { return false }
    #endif
    return meters[Int(layer.spatial) * LayerCounts.temporal + Int(layer.temporal)]?.isBrief ?? false
  }

  private static func usual(_ description: EncodingDescription) -> LayerRate {
    let picture = description.picture.pixels > 0 ? description.picture : description.said
    let rate = bits(UsualRate.bits(pixels: picture.pixels, frameRate: 0, description.codec ?? .vp8))
    return LayerRate(spatial: 0, temporal: 0, rate: rate, peak: rate)
  }

  /// A layer's rate is of all that are below it as well, in size and in frame rate.
  private mutating func measure(_ counts: LayerCounts, intervals: Int, now: Instant) {
    for place in meters.indices {
      let count = counts[place / LayerCounts.temporal, place % LayerCounts.temporal]
      if meters[place] == nil, count > 0 { meters[place] = RateMeter() }
      meters[place]?.sample(count, intervals: intervals)
    }
    var found: [LayerRate] = []
    for spatial in 0..<LayerCounts.spatial {
      for temporal in 0..<LayerCounts.temporal {
        guard let own = meters[spatial * LayerCounts.temporal + temporal], own.mean > 0 else { continue }
        var (rate, peak, steady) = (0.0, 0.0, 0.0)
        for below in 0...spatial {
          for slower in 0...temporal {
            guard let meter = meters[below * LayerCounts.temporal + slower] else { continue }
            rate += meter.mean
            peak += meter.peak
            steady += meter.steady
          }
        }
        found.append(
          LayerRate(
            spatial: UInt8(spatial), temporal: UInt8(temporal), rate: Self.bits(rate), peak: Self.bits(peak),
            steady: Self.bits(steady)))
      }
    }
    // One that is off counts as it was: what came of it last is the rest of a second.
    #if PLANTED_DEFECTS
      let isKept = self.isKept && !isSentAllTheSame(now) && !PlantedDefect.isOn(.offCountsAsNothing)
    #else
      let isKept = self.isKept && !isSentAllTheSame(now)
    #endif
    if !found.isEmpty, !isKept || layers.layers.isEmpty { layers.layers = found }
  }

  /// It is off, and comes all the same, long after its publisher could have known: one by WHIP, or of streams without names, hears of
  /// nothing that it could do. It is measured as any other, while it comes.
  private func isSentAllTheSame(_ now: Instant) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.unwatchedUnmeasured) { return false }
    #endif
    return isOff && lastHeard == now && now - since.off >= Self.startup
      && now - since.flowing >= Self.measured
  }

  private static func bits(_ rate: Double) -> UInt32 { UInt32(min(max(rate, 0), Double(UInt32.max))) }

  /// Without viewers for so long it is of no use.
  private static let unwatched = Duration.seconds(5)
  /// So long its publisher may take to send it again.
  static let startup = Duration.seconds(3)
  static let failure = Duration.seconds(30)

  /// Notes whether it is watched.
  mutating func watch(_ isWatched: Bool, now: Instant) {
    if isWatched {
      // At two looks in a row: who begins at a worker that knows no encodings yet is there for a moment alone.
      guard !isOff || wasWatched else {
        wasWatched = true
        return
      }
      if isOff {
        onSince = now
        cameBack = nil
      }
      isOff = false
    } else if hasCome, now - (lastWatched ?? now) >= Self.unwatched {
      if !isOff { since.off = now }
      isOff = true
      isKept = true
    }
    wasWatched = isWatched
    // What has never come costs nothing yet. Once off, it would never be known, and never be chosen.
    if isWatched || lastWatched == nil || !hasCome { lastWatched = now }
  }

  /// It is to come although it isn't watched yet: others that are have stopped.
  mutating func callIn(now: Instant) {
    (isOff, wasWatched, onSince, lastWatched, cameBack) = (false, true, now, now, nil)
  }

  /// Bits per second, as known.
  var cost: UInt32 { layers.layers.last?.rate ?? 0 }

  /// It has come, and does no more.
  func isSilent(at now: Instant) -> Bool { hasCome && now - lastHeard >= patience }

  /// It is off, and comes no more: what it showed last is of the past.
  func isOver(at now: Instant) -> Bool { isOff && isSilent(at: now) }

  /// Something of it was received.
  var hasCome: Bool { lastHeard.nanoseconds > .min / 2 }

  /// An encoding that is silent while another flows has stopped; where all are, the picture stands still.
  /// - Parameter siblings: when any encoding of the track was last heard.
  mutating func decide(siblings: Instant, now: Instant) {
    if expected.isBack(announced, failedAt: failedAt, now: now) { failedAt = Instant(nanoseconds: .min / 2) }
    guard hasCome else {
      // It is said to come, and has its time for that.
      layers.isActive = expected.isAny && announced?.isActive == true
      return
    }
    // What comes long after it failed to can be had again, whether it was asked for or not.
    #if PLANTED_DEFECTS
      let isForgiven = !PlantedDefect.isOn(.failureOutlasts)
    #else
      let isForgiven = true
    #endif
    if isForgiven, lastHeard - failedAt >= Self.silence { failedAt = Instant(nanoseconds: .min / 2) }
    // It can be had, and comes once it is watched.
    let isStarting = now - onSince < Self.startup
    if isOff || isStarting {
      layers.isActive = now - failedAt >= Self.failure
      return
    }
    if onSince > lastHeard, failedAt < onSince { failedAt = now }
    if isAnnouncedOff {
      layers.isActive = false
      failedAt = now
      return
    }
    if now - lastHeard < patience {
      layers.isActive = true
    } else if isSilent(beside: siblings) {
      layers.isActive = false
    }
  }

  /// Without a packet for so long it is silent.
  private var patience: Duration {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.stopUnnoticed) { return .seconds(1_000_000) }
    #endif
    guard framesPerSecond > 0 else { return Self.silence }
    return max(Self.silence, .seconds(1) * Self.silentFrames / framesPerSecond)
  }

  /// Nothing comes of it while another flows: it is off, has stopped, or never came.
  /// - Parameter siblings: when any encoding of the track was last heard.
  func isSilent(beside siblings: Instant) -> Bool {
    guard hasCome else { return siblings.nanoseconds > .min / 2 }
    return siblings - lastHeard >= patience
  }

  /// Its publisher says that it has stopped; what came long after that says otherwise.
  private var isAnnouncedOff: Bool {
    guard let announced, !announced.isActive else { return false }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.stopUnheard) { return false }
    #endif
    return lastHeard - announced.arrival < Self.silence
  }
}

extension EncodingAnnouncement {
  /// What a layer of size takes with each of its layers of frame rate, as announced, or what is usual where nothing is said.
  fileprivate func rates(spatial: Int, _ codec: Codec?) -> [LayerRate] {
    let layer = layers[spatial]
    let count = min(Int(layer.temporalCount), LayerCounts.temporal)
    return (0..<count).map { temporal in
      // Each layer of frame rate has twice the pictures of the one below.
      let slower = count - 1 - temporal
      let pictures = (layer.frameRate > 0 ? Int(layer.frameRate) : 30) >> slower
      let said = Double(layer.rates[temporal]) * 1_000
      let bits =
        said > 0
        ? said
        : UsualRate.bits(pixels: layer.picture.pixels, frameRate: max(pictures, 1), codec ?? .vp8)
      // No more than the estimator believes of any path.
      let rate = UInt32(min(bits, BandwidthEstimator.bounds.upperBound))
      return LayerRate(
        spatial: UInt8(spatial), temporal: UInt8(temporal), rate: rate, peak: rate, picture: layer.picture,
        frameRate: layer.frameRate >> UInt8(slower))
    }
  }
}
