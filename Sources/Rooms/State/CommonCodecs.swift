internal import Model

/// The video formats that everybody present can be shown, as publishers go by them.
///
/// A format is removed as soon as one subscriber lacks it, since that subscriber sees nothing until publishers change. It is added
/// only after every subscriber has supported it for a while: a change of codec costs each publisher a key frame, so a participant
/// that joins and leaves, or alternates its offers, must not trigger one every time. Each format waits by itself, so that one that
/// comes and goes holds up no other; its wait doubles with each removal, and is halved for each `calm` without one.
struct CommonCodecs: Equatable, Sendable {
  static let shortestWait = Duration.seconds(5)
  static let longestWait = Duration.seconds(300)
  static let calm = Duration.seconds(600)

  /// A format that some lacked.
  struct Format: Equatable, Sendable {
    /// When it was last removed; nil: it isn't known.
    var removed: Instant?
    /// How long all had to have it then, before it was to be added.
    var wait = CommonCodecs.shortestWait
    /// Since when all have had it, while it isn't known.
    var since: Instant?

    /// How long all must have it now.
    func wait(now: Instant) -> Duration {
      guard let removed else { return CommonCodecs.shortestWait }
      var (wait, left) = (wait, now - removed)
      while wait > CommonCodecs.shortestWait, left >= CommonCodecs.calm {
        (wait, left) = (wait / 2, left - CommonCodecs.calm)
      }
      return max(wait, CommonCodecs.shortestWait)
    }
  }

  private(set) var known = CodecSet.all
  /// By number.
  private(set) var formats: [UInt8: Format] = [:]

  init() {}

  init(known: CodecSet, formats: [UInt8: Format]) { (self.known, self.formats) = (known, formats) }

  /// - Parameter taken: what all have.
  /// - Returns: whether what is known has changed.
  mutating func take(_ taken: CodecSet, now: Instant) -> Bool {
    guard taken != known || !formats.isEmpty else { return false }
    let before = known
    for number in 0..<UInt8(CodecSet.all.rawValue.bitWidth) {
      let bit: UInt32 = 1 << UInt32(number)
      if taken.rawValue & bit == 0 {
        if known.rawValue & bit != 0 { remove(number, now: now) }
        formats[number]?.since = nil
      } else if known.rawValue & bit == 0 {
        var format = formats[number] ?? Format()
        let since = format.since ?? now
        format.since = since
        if now - since >= format.wait(now: now) {
          known.rawValue |= bit
          format.since = nil
        }
        formats[number] = format
      }
    }
    return known != before
  }

  private mutating func remove(_ number: UInt8, now: Instant) {
    known.rawValue &= ~(1 << UInt32(number))
    var format = formats[number] ?? Format()
    let last = format.wait(now: now)
    let isRemembered = format.removed.map { last > Self.shortestWait || now - $0 < Self.calm } ?? false
    format.wait = isRemembered ? min(last * 2, Self.longestWait) : Self.shortestWait
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.codecsComeAndGo) { format.wait = Self.shortestWait }
    #endif
    format.removed = now
    formats[number] = format
  }
}
