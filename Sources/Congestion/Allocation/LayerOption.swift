public import Model

/// One way to show a track: an encoding up to one of its layers, and what that takes.
public struct LayerOption: BitwiseCopyable, Equatable, Sendable {
  public var encoding: UInt8
  public var spatial: UInt8
  public var temporal: UInt8
  /// Of the picture; 0 where it isn't known.
  public var width: UInt16
  public var height: UInt16
  /// Pictures a second; 0 where it isn't known.
  public var frameRate: UInt8
  /// Bits per second with UDP and IP, of everything up to this layer: the mean of the last second, and the most that a second
  /// of the last three had.
  public var rate: Double
  public var peak: Double
  /// The mean of the last three: what is shown doesn't go for one large picture.
  public var steady: Double

  public init(
    encoding: UInt8 = 0, spatial: UInt8 = 0, temporal: UInt8 = 0, width: UInt16 = 0, height: UInt16 = 0,
    frameRate: UInt8 = 0, rate: Double, peak: Double, steady: Double? = nil
  ) {
    self.encoding = encoding
    self.spatial = spatial
    self.temporal = temporal
    self.width = width
    self.height = height
    self.frameRate = frameRate
    self.rate = rate
    self.peak = peak
    self.steady = steady ?? rate
  }

  /// Whether both are the same layer, whatever it takes at present.
  func isLayer(_ other: LayerOption) -> Bool {
    encoding == other.encoding && spatial == other.spatial && temporal == other.temporal
  }
}

/// What one slot could get, and what its subscriber wants of it.
public struct SlotDemand: Sendable {
  public var slot: Int
  public var kind: MediaKind
  /// Sharpness counts, not motion.
  public var isScreen = false
  /// Its participant speaks, or did last.
  public var isSpeaking = false
  public var picture = PicturePreference()
  /// From the cheapest to the best; of audio exactly one, and none of what isn't sent. At most 12 are looked at.
  public var options: [LayerOption]
  /// What the last allocation left.
  public var memory: SlotMemory

  public init(slot: Int, kind: MediaKind, options: [LayerOption], memory: SlotMemory = SlotMemory()) {
    self.slot = slot
    self.kind = kind
    self.options = options
    self.memory = memory
  }

  static let mostOptions = 12
}

/// What an allocation has to know of the one before, so that pictures don't change back and forth.
public struct SlotMemory: BitwiseCopyable, Equatable, Sendable {
  /// What is shown; nil: nothing.
  public internal(set) var shown: LayerOption?
  /// Nothing is, for want of rate.
  public internal(set) var isStarved = false
  /// Whether that is so was passed on. Kept by the allocator's caller: it isn't known where a peer goes on from its bytes.
  public var isSaid = false
  var lastUp = Instant(nanoseconds: .min / 2)
  var lastDown = Instant(nanoseconds: .min / 2)
  /// What was shown when the rate turned out to be too little: that, and what is above, waits.
  var failed: LayerOption?
  /// The last step down took back a step up that was just made.
  private var hasFailed = false
  /// The last step up was to something better than was shown, which took so much then.
  private var isTrial = false
  private var trialRate = 0.0
  /// Its subscriber has asked for more since the last step down.
  private var isAsked = false
  /// The target then, and what was sent in all until then: where much more is carried since, it counts no longer.
  var targetAtDown = 0.0
  var sentAtDown = 0.0
  /// Since when not even the cheapest layer fits.
  var overSince: Instant?
  /// It goes up again only so long after it went down.
  var hold = SlotMemory.shortHold

  /// Its key frames were more than the path carries in their time: nothing is shown until then, and each time for longer.
  private var withheldUntil = Instant(nanoseconds: .min / 2)
  private var withheldFor = SlotMemory.shortHold

  static let shortHold = Duration.seconds(8)
  static let longestHold = Duration.seconds(30)
  /// An upgrade that is taken back so soon was a mistake, and makes the next wait three times as long.
  static let trial = Duration.seconds(20)

  public init() {}

  /// Something better is shown since less time than it takes to measure it.
  func isBeginning(now: Instant) -> Bool { isTrial && lastUp > lastDown && now - lastUp < Self.measured }
  private static let measured = Duration.seconds(2)

  /// Whether something better may be tried.
  func mayRise(_ target: Double, now: Instant) -> Bool {
    now - lastDown >= hold || target >= Self.muchMore * sentAtDown
  }

  /// What the path was found not to carry a moment ago, whatever slot it was that went up: no other tries it instead.
  /// - Returns: bits per second of all slots, above which nothing is tried; nil: anything may be.
  func refused(_ target: Double, now: Instant) -> Double? {
    hasFailed && !mayRise(target, now: now) ? Self.nearly * sentAtDown : nil
  }
  private static let nearly = 0.9

  /// Its subscriber asks for more than before: what failed earlier waits for nothing where the target has room to spare for it.
  public mutating func tryAgain() { isAsked = true }

  /// - Parameters:
  ///   - rate: that it takes at its worst.
  ///   - free: of the target.
  func isAskedAgain(_ rate: Double, free: Double) -> Bool { isAsked && rate * Self.spare <= free }
  private static let spare = 1.25

  /// - Parameter rate: that something better takes at its worst.
  /// - Returns: what has to be free for it, which is more where it failed a moment ago and its subscriber has asked for it since.
  func needed(_ rate: Double, target: Double, now: Instant) -> Double {
    isAsked && !mayRise(target, now: now) ? rate * Self.spare : rate
  }

  /// Nothing is shown for a while, since the path doesn't carry a key frame of it in time: another, for which all pay who get the track,
  /// would be as large.
  /// - Parameter target: bits per second of everything; where much more is carried it is shown at once.
  public mutating func withhold(target: Double, now: Instant) {
    let isAgain = now - withheldUntil < Self.trial
    withheldFor = isAgain ? min(withheldFor * 2, Self.longestWithheld) : Self.shortHold
    withheldUntil = now + withheldFor
    (shown, lastDown) = (nil, now)
    (targetAtDown, sentAtDown) = (target, target)
  }
  private static let longestWithheld = Duration.seconds(60)

  func isWithheld(_ target: Double, now: Instant) -> Bool {
    now < withheldUntil && target < Self.muchMore * targetAtDown
  }

  /// How long this path has to be left alone for its last failure.
  func waits(now: Instant) -> Duration { hasFailed && now - lastDown < Self.longestHold ? hold : .zero }

  /// Whether a picture is shown where nothing is: for a missing picture the wait doesn't grow as it does for a better one.
  /// - Parameter fits: at its worst.
  func mayReturn(_ fits: Bool, _ target: Double, now: Instant) -> Bool {
    let since = now - lastDown
    if since >= hold { return true }
    if fits, since >= Self.shortHold { return true }
    if fits, since >= Self.recovery, target >= Self.more * targetAtDown { return true }
    // It is worth a try as soon as the path is better than it was.
    return target >= Self.muchMore * targetAtDown
  }
  private static let muchMore = 1.5
  private static let more = 1.15

  /// Whether more of the same picture may be tried.
  /// - Parameter isLess: than what was too much.
  func mayRecover(isLess: Bool, now: Instant) -> Bool {
    now - lastDown >= (isLess ? Self.recovery : Self.fullRecovery)
  }
  private static let recovery = Duration.seconds(2)
  private static let fullRecovery = Duration.seconds(6)

  /// Whether what is shown stays although it doesn't fit, in case it soon does.
  /// - Parameter isLittle: that is missing.
  func endures(isLittle: Bool, now: Instant) -> Bool {
    shown != nil && now - (overSince ?? now) < (isLittle ? Self.longPatience : Self.patience)
  }
  private static let patience = Duration.milliseconds(500)
  private static let longPatience = Duration.seconds(5)

  /// - Parameters:
  ///   - isDown: less is shown, although what was is wanted and sent.
  ///   - isUp: more is.
  ///   - sent: of all slots until now.
  ///   - waits: what the path's failures have others wait.
  mutating func show(
    _ option: LayerOption?, isDown: Bool, isUp: Bool, target: Double, sent: Double, waits: Duration,
    now: Instant
  ) {
    let isChange =
      switch (shown, option) {
      case (nil, nil): false
      case (let old?, let new?): !old.isLayer(new)
      default: true
      }
    defer { shown = option }
    guard isChange else { return }
    if isDown {
      isAsked = false
      // What falls by several steps has failed once; what has begun with too much has failed at nothing.
      if lastUp > lastDown {
        let isFailure = isTrial && now - lastUp < Self.trial
        hold = isFailure ? min(max(hold, waits) * 2, Self.longestHold) : Self.shortHold
        // What has swollen since it was taken up says nothing of what the path carries of others.
        let hasSwollen = shown.map { $0.rate > Self.swollen * trialRate } ?? false
        hasFailed = isFailure && !hasSwollen
        failed = shown
      }
      lastDown = now
      targetAtDown = target
      sentAtDown = max(target, sent)
    } else if isUp {
      lastUp = now
      isTrial = shown != nil
      trialRate = option.map { max($0.rate, $0.peak) } ?? 0
    }
  }
  private static let swollen = 1.5
}
