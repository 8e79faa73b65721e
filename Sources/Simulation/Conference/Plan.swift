internal import SyntheticPeers

/// What a seed decides of a conference before anything happens, so that each kind comes often enough.
struct Plan {
  enum Ending: CaseIterable {
    /// Everybody leaves.
    case leaving
    /// The server drains, and ends those who stay.
    case drain
    /// An administrator ends the rooms.
    case roomsClosed
  }

  let workers: Int
  let rooms: Int
  /// Publishers send video at 1.5 Mbit/s; they are fewer then.
  let isHeavy: Bool
  let peers: Int
  let ending: Ending
  /// A publisher does as it likes.
  let isHostile: Bool
  /// Sinks, which are no participants, get tracks too.
  let hasSinks: Bool
  /// Participants change what they publish, and an administrator what they may.
  let isUnruly: Bool

  /// A participant comes that has no socket and two transports.
  let hasSocketless: Bool
  /// It comes by WHIP and WHEP, which hold no session. In seeds that are no part of the digests that are kept.
  let hasStandalone: Bool

  /// Of one on narrow paths: its plan, and what is written down of it.
  let layers: LayerBooks?

  init(seed: UInt64, options: Conference.Options) {
    if let people = options.meeting, options.isNarrow {
      layers = LayerBooks(LayerPlan(meeting: seed, people: people, span: options.duration))
    } else {
      layers = options.isNarrow ? LayerBooks(LayerPlan(seed: seed)) : nil
    }
    workers = options.workers ?? (seed % 2 == 0 ? 4 : 2)
    rooms = options.isNarrow ? 1 : options.rooms ?? Int(seed % 3) + 1
    isHeavy = options.weather && options.isHeavy ?? (seed % 10 == 0)
    peers = isHeavy ? min(options.peers, 4) : options.peers
    isHostile = options.weather && seed % 5 < 2
    hasSinks = options.weather && seed % 5 == 3
    isUnruly = options.weather && seed % 2 == 1
    hasSocketless = options.weather && seed % 6 == 5
    hasStandalone = hasSocketless && seed > 60 && seed % 12 == 11
    ending = Ending.allCases[Int(seed / 2 % 3)]
  }

  /// So many others are in a participant's room, about.
  var neighbours: Int { max((peers + rooms - 1) / rooms - 1, 1) }
}
