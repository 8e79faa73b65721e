#if PLANTED_DEFECTS
  internal import Model
#endif

/// How much the participants of a room may say of themselves: their metadata and attributes, in bytes of JSON.
///
/// Everybody who comes is given all of it, so a room's has a bound of its own. Each participant has a share that none
/// can take from it. What one has above its share comes out of a pool that all have together, and one may take a part of
/// that at most. Who asks for more than is left is refused; it costs those nothing who are in.
///
/// What participants change themselves never takes more than half of the pool: the other half is for what tokens carry, 12 KiB
/// at most each, and for what those who run the room set. So no participant shuts out others whose tokens have more than a share.
struct StateBudget: Sendable {
  /// Who says it.
  enum Source: Sendable {
    /// A token, or who runs the room.
    case issuer
    /// The participant itself.
    case participant
  }

  /// What all may have above their shares.
  static let pool = 2 * 1_024 * 1_024
  /// Of that, one participant: metadata and attributes of 64 KiB each fit in it twice.
  static let part = pool / 8
  /// The largest share.
  static let largestShare = 8 * 1_024

  /// What each participant may have, whatever others do.
  let share: Int

  /// - Parameter participants: as many as a room takes; all their shares together are half of the pool at most.
  init(participants: Int) { share = min(Self.largestShare, Self.pool / 2 / max(participants, 1)) }

  /// What an event costs that carries so many bytes of a participant's state to everybody: one request, and one for each
  /// 8 KiB.
  static func eventCost(_ bytes: Int) -> Double { 1 + Double(bytes / 8_192) }

  /// What joining costs: what others are sent of it, and one request for each 8 KiB that it is given of them; half of what there
  /// is at once at most, so that who has joined a large room can load its page again.
  static func joinCost(_ own: Int, given: Int) -> Double {
    min(eventCost(own) + Double(given / 8_192), Allowance.requestBurst / 2)
  }

  /// What a participant may have now.
  /// - Parameter others: what each of the others has.
  func limit(beside others: some Sequence<Int>, from source: Source = .issuer) -> Int {
    let taken = others.reduce(0) { $0 + max(0, $1 - share) }
    #if PLANTED_DEFECTS
      let isWhole = source == .issuer || PlantedDefect.isOn(.updatesTakeAll)
    #else
      let isWhole = source == .issuer
    #endif
    return share + max(0, min(Self.part, (isWhole ? Self.pool : Self.pool / 2) - taken))
  }

  /// What one participant may have where the others have nothing.
  var largest: Int { share + Self.part }
}

extension ParticipantInfo {
  /// What metadata and attributes have in JSON, with the quotes, colons and commas of each attribute.
  var stateBytes: Int {
    attributes.reduce((metadata ?? "").jsonBytes) { $0 + $1.key.jsonBytes + $1.value.jsonBytes + 6 }
  }
}
