internal import Model

/// The selected pair put to the question, because a valid check of the peer's came on another proven pair.
///
/// A NAT that forgets its mapping gives the peer an address that the peer doesn't know of: it goes on checking
/// what is to it the same pair, and who nominated once needn't do so again (RFC 8445 §8.1.1; Firefox doesn't,
/// Chromium does towards a lite agent). Media would go to the old address until consent ends. A peer that has
/// not moved answers on the selected pair, so nothing that a third party can send moves anything.
///
///     check on another proven pair ─▶ three checks on the selected ─no answer─▶ the other is selected
///                                                       └─any answer─▶ nothing changes
struct PathChallenge: Sendable {
  static let attempts = 3
  /// Nanoseconds that the selected pair has to answer, at least and at most: within them four round trips.
  static let patience: ClosedRange<Int64> = 100_000_000...2_000_000_000

  /// What is selected without an answer.
  let rival: NetworkPath
  let startedAt: Instant
  private let patience: Int64
  private var sent = 0

  /// - Parameter roundTrip: the longest known, in nanoseconds; 0 for none.
  init(rival: NetworkPath, roundTrip: Int64, now: Instant) {
    self.rival = rival
    startedAt = now
    patience = min(
      max(min(roundTrip, Self.patience.upperBound) * 4, Self.patience.lowerBound), Self.patience.upperBound)
  }

  var isOver: Bool { sent > Self.attempts }

  /// When the next check is due, and after the last the verdict.
  var next: Instant { startedAt.advanced(byNanoseconds: patience / Int64(Self.attempts) * Int64(sent)) }

  /// A check was sent, or the verdict is due.
  mutating func advance() { sent += 1 }
}

extension PathChallenge {
  func encode(into writer: inout StateWriter) {
    writer.write(rival)
    writer.write(startedAt)
    writer.write(patience)
    writer.write(UInt8(sent))
  }

  init(from reader: inout StateReader) throws(StateError) {
    rival = try reader.path()
    startedAt = try reader.instant()
    patience = try reader.integer()
    sent = Int(try reader.integer(UInt8.self))
    guard Self.patience.contains(patience), sent <= Self.attempts else {
      throw .invalid(field: "path challenge \(patience) \(sent)", offset: reader.offset - 1)
    }
  }
}

extension ServerAgent {
  /// A valid check came on a pair that is validated and not selected.
  mutating func challengeSelected(by index: Int, _ now: Instant) {
    guard challenge == nil, let selected = pairs.selected, selected != index, pairs[index].isValidated,
      pairs[selected].generation == pairs[index].generation
    else { return }
    challenge = PathChallenge(
      rival: pairs[index].path, roundTrip: max(pairs[selected].roundTrip, pairs[index].roundTrip), now: now)
  }

  /// Our check on the pair was answered.
  /// - Parameter roundTrip: nanoseconds since it was sent.
  mutating func settleChallenge(at index: Int, roundTrip: Int64, _ now: Instant) {
    guard let challenge, pairs.selected == index else { return }
    // An answer to what was sent before proves nothing about now.
    if now.nanoseconds &- roundTrip >= challenge.startedAt.nanoseconds { self.challenge = nil }
  }

  /// - Returns: the path that is selected now because the one before is silent.
  mutating func pollChallenge(
    _ now: Instant, _ random: inout RandomSource, _ output: inout ICEOutput
  ) -> NetworkPath? {
    guard let due = challenge?.next, due <= now else { return nil }
    challenge?.advance()
    guard let selected = pairs.selected else {
      challenge = nil
      return nil
    }
    guard let over = challenge, over.isOver else {
      sendConsentCheck(at: selected, now, &random, &output)
      return nil
    }
    challenge = nil
    guard let rival = pairs.find(over.rival, generation: pairs[selected].generation),
      pairs[rival].isValidated
    else { return nil }
    // To the peer the two are one pair, and the nomination belongs to it.
    (pairs[rival].nominationSerial, pairs[selected].nominationSerial) = (pairs[selected].nominationSerial, 0)
    (pairs[rival].nominationValue, pairs[selected].nominationValue) = (pairs[selected].nominationValue, 0)
    select(rival, now, &random)
    return over.rival
  }
}
