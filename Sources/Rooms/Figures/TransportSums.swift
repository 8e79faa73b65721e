internal import Model
internal import Peer

/// What transports have together.
///
/// A list of rooms sums up every participant of every room, so no transport is copied: a copy retains all that it holds.
struct TransportSums {
  private(set) var publishers = 0
  private(set) var tracks = 0
  private(set) var bitrates = Bitrates()
  /// The worst, 0–1; nil: nothing is known.
  private(set) var loss: Double?
  private(set) var roundTrip: Duration?

  init() {}

  /// Those of one participant.
  init(_ transports: [Transport]) { add(transports) }

  /// Takes in those of one more participant.
  mutating func add(_ transports: [Transport]) {
    let before = tracks
    for place in transports.indices {
      tracks += transports[place].published.count
      bitrates = bitrates + transports[place].bitrates
      guard let measured = transports[place].measured else { continue }
      loss = max(loss ?? 0, Double(measured.loss) / 65_536)
      roundTrip = max(roundTrip ?? .zero, measured.roundTrip)
    }
    if tracks > before { publishers += 1 }
  }
}
