/// How much the participants of a room may say of themselves: their metadata and attributes, in bytes of JSON.
///
/// Everybody who comes is given all of it, so a room's has a bound of its own. Each participant has a share that none
/// can take from it. What one has above its share comes out of a pool that all have together, and one may take a part of
/// that at most. Who asks for more than is left is refused; it costs those nothing who are in.
struct StateBudget: Sendable {
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

  /// What a participant may have now.
  /// - Parameter others: what each of the others has.
  func limit(beside others: some Sequence<Int>) -> Int {
    let taken = others.reduce(0) { $0 + max(0, $1 - share) }
    return share + max(0, min(Self.part, Self.pool - taken))
  }
}

/// Why a participant may not have the metadata and attributes that it, or somebody for it, asks for.
public enum StateExcess: Error, Equatable, Sendable {
  /// `metadata` or `attributes` is longer than it may be by itself.
  case part(String)
  /// Both have so many bytes in JSON, and the participant may have so many in this room now.
  case whole(bytes: Int, limit: Int)

  public var description: String {
    switch self {
    case .part(let part): "\(part) is too large"
    case .whole(let bytes, let limit):
      "metadata and attributes have \(bytes) bytes in JSON, of which this participant may have \(limit) in this room now"
    }
  }
}

extension ParticipantInfo {
  /// What metadata and attributes have in JSON, with the quotes, colons and commas of each attribute.
  var stateBytes: Int {
    attributes.reduce((metadata ?? "").jsonBytes) { $0 + $1.key.jsonBytes + $1.value.jsonBytes + 6 }
  }
}
