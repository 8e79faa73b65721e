public import Model

/// The selected pair put to the question, because a valid check of the peer's came on another proven pair.
///
/// A NAT that forgets its mapping gives the peer an address that the peer doesn't know of: it goes on checking
/// what is to it the same pair, and who nominated once needn't do so again (RFC 8445 §8.1.1; Firefox doesn't,
/// Chromium does towards a lite agent). Media would go to the old address until consent ends. A peer that has
/// not moved answers on the selected pair, so nothing that a third party can send moves anything for good.
///
/// A peer that sends media from there as well is followed at once, and is still asked at the old address: an answer from
/// there takes it back, and after that the pair is followed for nothing but silence (as QUIC does against packets that
/// somebody forwards: RFC 9000 §9.3.3). Both pairs are proven, so no answer ever decides about a stranger's address.
///
///     check on another proven pair ─▶ three checks on the selected ─no answer─▶ the other is selected
///                                       │              └─any answer─▶ nothing changes
///                                       └─media from the other─▶ it is selected ─any answer─▶ taken back
struct PathChallenge: Sendable {
  static let attempts = 3
  /// Nanoseconds that the selected pair has to answer, at least and at most: within them four round trips.
  static let patience: ClosedRange<Int64> = 100_000_000...2_000_000_000

  /// What is asked: selected when the challenge began.
  let asked: NetworkPath
  /// What is selected without an answer.
  let rival: NetworkPath
  /// Media came from the rival, which is selected since.
  var isFollowed = false
  let startedAt: Instant
  /// When the next check is due, and after the last the verdict: never less than its share after the one before,
  /// however late that was.
  private(set) var next: Instant
  private let patience: Int64
  private var sent = 0

  /// - Parameter roundTrip: the longest known, in nanoseconds; 0 for none.
  init(asked: NetworkPath, rival: NetworkPath, roundTrip: Int64, now: Instant) {
    self.asked = asked
    self.rival = rival
    startedAt = now
    next = now
    patience = min(
      max(min(roundTrip, Self.patience.upperBound) * 4, Self.patience.lowerBound), Self.patience.upperBound)
  }

  var isOver: Bool { sent > Self.attempts }

  /// A check is sent, or the verdict is due.
  mutating func advance(_ now: Instant) {
    sent += 1
    next = now.advanced(byNanoseconds: patience / Int64(Self.attempts))
  }
}

extension PathChallenge {
  func encode(into writer: inout StateWriter) {
    writer.write(asked)
    writer.write(rival)
    writer.write(isFollowed)
    writer.write(startedAt)
    writer.write(next)
    writer.write(patience)
    writer.write(UInt8(sent))
  }

  init(from reader: inout StateReader) throws(StateError) {
    asked = try reader.path()
    rival = try reader.path()
    isFollowed = try reader.bool()
    startedAt = try reader.instant()
    next = try reader.instant()
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
      asked: pairs[selected].path, rival: pairs[index].path,
      roundTrip: max(pairs[selected].roundTrip, pairs[index].roundTrip), now: now)
  }

  /// A packet of the peer's came on the path, new and authentic by the keys that DTLS gave.
  /// - Returns: whether the path is selected now and wasn't before.
  public mutating func mediaCame(on path: NetworkPath, now: Instant, random: inout RandomSource) -> Bool {
    guard var following = challenge, !following.isFollowed, following.rival == path,
      let (_, rival) = opponents(of: following), !pairs[rival].isDoubted
    else { return false }
    following.isFollowed = true
    takeOver(rival, now, &random)
    challenge = following
    return true
  }

  /// Our check on the pair was answered.
  /// - Parameter roundTrip: nanoseconds since it was sent.
  /// - Returns: whether the pair is selected now and wasn't before.
  mutating func settleChallenge(
    at index: Int, roundTrip: Int64, _ now: Instant, _ random: inout RandomSource
  ) -> Bool {
    // An answer to what was sent before proves nothing about now.
    #if PLANTED_DEFECTS
      let roundTrip = PlantedDefect.isOn(.oldAnswer) ? 0 : roundTrip
    #endif
    guard let settled = challenge, let (asked, rival) = opponents(of: settled), asked == index,
      now.nanoseconds &- roundTrip >= settled.startedAt.nanoseconds
    else { return false }
    challenge = nil
    guard settled.isFollowed else { return false }
    pairs[rival].isDoubted = true
    takeOver(asked, now, &random)
    return true
  }

  /// - Returns: the path that is selected now because the one before is silent.
  mutating func pollChallenge(
    _ now: Instant, _ random: inout RandomSource, _ output: inout ICEOutput
  ) -> NetworkPath? {
    guard let due = challenge?.next, due <= now else { return nil }
    challenge?.advance(now)
    guard let running = challenge, let (asked, rival) = opponents(of: running) else {
      challenge = nil
      return nil
    }
    guard running.isOver else {
      sendConsentCheck(at: asked, now, &random, &output)
      return nil
    }
    challenge = nil
    guard !running.isFollowed else { return nil }
    takeOver(rival, now, &random)
    return running.rival
  }

  /// The two pairs of a challenge, while both are proven and one of them is selected as the challenge has it.
  private func opponents(of challenge: PathChallenge) -> (asked: Int, rival: Int)? {
    guard let selected = pairs.selected,
      let asked = pairs.find(challenge.asked, generation: pairs[selected].generation),
      let rival = pairs.find(challenge.rival, generation: pairs[selected].generation),
      selected == (challenge.isFollowed ? rival : asked),
      pairs[asked].isValidated, pairs[rival].isValidated
    else { return nil }
    return (asked, rival)
  }

  /// To the peer the two are one pair, and the nomination belongs to it.
  private mutating func takeOver(_ index: Int, _ now: Instant, _ random: inout RandomSource) {
    if let selected = pairs.selected {
      (pairs[index].nominationSerial, pairs[selected].nominationSerial) = (
        pairs[selected].nominationSerial, 0
      )
      (pairs[index].nominationValue, pairs[selected].nominationValue) = (pairs[selected].nominationValue, 0)
    }
    select(index, now, &random)
  }
}
