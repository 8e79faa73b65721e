internal import Model

/// Which pictures of one publisher a subscriber has been shown, and how smoothly.
struct PictureTally {
  /// What is wrong with a picture that is as it was drawn.
  enum Fault: Error, Equatable {
    /// No picture of that number was sent.
    case neverSent
    /// It, or a later one, was shown before.
    case shownBefore
  }

  private enum Phase: Equatable {
    case before
    /// From that number on.
    case measuring(from: Int)
    case over(Range<Int>)
  }

  /// A pause between two pictures that is longer is a freeze: the bound of WebRTC's statistics, the interval and
  /// 150 ms (webrtc-stats, `freezeCount`).
  static let longestPause = PublisherEncoder.pictureInterval + 150_000_000

  private var phase = Phase.before
  private var shownAt = Instant.never
  private var highest = -1
  /// Pictures of any time.
  private(set) var seen = 0
  /// In the measured span.
  private(set) var verified = 0
  private(set) var freezes = 0
  /// Nanoseconds of all freezes, each from the picture that stood until the next one.
  private(set) var frozen: Int64 = 0

  /// The span begins with the picture of that number.
  mutating func begin(at number: Int, now: Instant) {
    phase = .measuring(from: number)
    (verified, freezes, frozen) = (0, 0, 0)
    shownAt = now
  }

  /// - Parameter number: of the first picture behind the span.
  mutating func end(at number: Int, now: Instant) {
    guard case .measuring(let first) = phase else { return }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.endIsSmooth) { shownAt = now }
    #endif
    notePause(until: now)
    phase = .over(first..<max(number, first))
  }

  /// - Parameter sent: how many pictures the publisher has sent.
  /// - Returns: whether it is one of the span.
  mutating func show(_ number: Int, sent: Int, now: Instant) throws(Fault) -> Bool {
    guard number < sent else { throw .neverSent }
    guard number > highest else { throw .shownBefore }
    highest = number
    seen += 1
    let isInSpan: Bool
    switch phase {
    case .before: isInSpan = false
    case .measuring(let first):
      notePause(until: now)
      shownAt = now
      isInSpan = number >= first
    case .over(let span): isInSpan = span.contains(number)
    }
    if isInSpan { verified += 1 }
    return isInSpan
  }

  private mutating func notePause(until now: Instant) {
    let pause = now.nanoseconds - shownAt.nanoseconds
    guard pause > Self.longestPause else { return }
    freezes += 1
    frozen += pause
  }
}
