internal import Model

/// Whether publishers of a room are to name one codec among those that everybody present can be shown, by the word of
/// docs/signalling.md: who lacks it has it taken away within 200 ms, and what all have again is named once that has lasted for
/// 5 s, twice as long each time that it was taken away.
///
/// It is given what all have, and asks the server nothing. The server looks at it every 200 ms, so what was so for a shorter time
/// may have been noticed or not; both are right then, and for what follows from it.
struct CodecWord {
  enum Expected { case named, unnamed, either }

  /// How often the server looks, at least.
  static let looking = Duration.milliseconds(200)
  static let shortestWait = Duration.seconds(5)
  static let longestWait = Duration.seconds(300)
  /// Without being taken away; it halves the wait.
  static let calm = Duration.seconds(600)

  private var word = Expected.named
  /// When a subscriber first lacked it; nil: every subscriber supports it.
  private var lackedSince: Instant?
  /// Since when all have had it, where it may have to be named again: at the earliest and at the latest.
  private var hadSince: (earliest: Instant, latest: Instant) = (
    Instant(nanoseconds: 0), Instant(nanoseconds: 0)
  )
  /// How often it was taken away, and when it last was for certain.
  private var takenAway: (least: Int, most: Int) = (0, 0)
  private var takenAwayAt = Instant(nanoseconds: 0)
  /// When the last doubt was counted.
  private var doubtedAt: Instant?

  /// What is right to say at this moment.
  var expected: Expected { lackedSince != nil && word != .unnamed ? .either : word }

  /// How long all must have it after it was taken away so often.
  private static func wait(_ times: Int) -> Duration {
    min(shortestWait * (1 << max(0, min(times, 10) - 1)), longestWait)
  }

  /// Time has passed, in which nothing has changed.
  mutating func pass(to now: Instant) {
    if let lackedSince {
      guard word != .unnamed, now - lackedSince > Self.looking else { return }
      if isCalm(now) { takenAway.least = 0 }
      if word == .named {
        takenAway.least += 1
        takenAwayAt = lackedSince
      }
      takenAway.most += 1
      word = .unnamed
    } else if word != .named {
      let least = Self.wait(isCalm(now) ? 0 : takenAway.least)
      // It is looked at once when the wait begins, and once when it is over.
      if now - hadSince.latest > Self.wait(takenAway.most) + Self.looking * 2 {
        word = .named
      } else if word == .unnamed, now - hadSince.earliest >= least {
        word = .either
      }
    }
  }

  private func isCalm(_ now: Instant) -> Bool { now - takenAwayAt >= Self.calm }

  /// A subscriber lacks it from now on, or every subscriber supports it.
  mutating func set(isLacked: Bool, now: Instant) {
    pass(to: now)
    guard isLacked != (lackedSince != nil) else { return }
    guard let since = lackedSince else {
      lackedSince = now
      return
    }
    lackedSince = nil
    if word != .unnamed {
      // For so short a time that it need not have been noticed.
      takenAway.most += 1
      hadSince = (now, now)
      word = .either
    } else {
      hadSince = (now - since > Self.looking ? now : hadSince.earliest, now)
    }
  }

  /// The server does not compare codecs at present, or may not: a recent change counts as one of now.
  mutating func standStill(_ now: Instant) {
    if lackedSince != nil { lackedSince = now }
    if word != .named { hadSince.latest = now }
  }

  /// What all have isn't known, nor how often it has changed.
  mutating func doubt(_ now: Instant) {
    standStill(now)
    if doubtedAt.map({ now - $0 >= Self.shortestWait }) ?? true || word != .either {
      takenAway.most += 1
      doubtedAt = now
    }
    hadSince.latest = now
    word = .either
  }

  /// The room is empty: it may end, and another begin that knows nothing of it.
  mutating func empty(_ now: Instant) {
    takenAway.least = 0
    guard word != .named else { return }
    hadSince.latest = now
    word = .either
  }
}
