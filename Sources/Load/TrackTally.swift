internal import Model

/// What one subscriber got of one track, packet by packet.
///
/// Packets go by the publisher's own count, which is sealed into their payload. What lies outside of the measured
/// span is kept apart.
struct TrackTally {
  private var arrived: [UInt64] = []
  /// The first number of `arrived`.
  private var base: Int?
  private var highest = -1
  /// Packets that came at all, from the join on.
  private(set) var seen = 0
  /// In the measured span.
  private(set) var firstTime = 0
  private(set) var recovered = 0
  private(set) var duplicates = 0
  private(set) var reordered = 0

  /// From here on it counts: the publisher's number of the first packet.
  mutating func begin(at packet: Int) {
    base = packet
    highest = max(highest, packet - 1)
  }

  /// - Parameter end: packets from this one on are of no more interest; nil while the span lasts.
  /// - Returns: whether the packet is a new one of the span.
  mutating func note(packet: Int, viaRTX: Bool, isRepeat: Bool, end: Int?) -> Bool {
    seen += 1
    guard let base, packet >= base, packet < end ?? .max else { return false }
    let (word, bit) = (packet - base).quotientAndRemainder(dividingBy: 64)
    // No publisher makes more in the longest run.
    guard word < Self.wordLimit else { return false }
    while arrived.count <= word { arrived.append(0) }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.repeatsCounted) { arrived[word] &= ~(1 << UInt64(bit)) }
    #endif
    guard arrived[word] & 1 << UInt64(bit) == 0 else {
      duplicates += 1
      return false
    }
    if isRepeat { duplicates += 1 }
    arrived[word] |= 1 << UInt64(bit)
    if viaRTX {
      recovered += 1
    } else {
      firstTime += 1
      if packet < highest { reordered += 1 }
      highest = max(highest, packet)
    }
    return true
  }

  var count: Int { firstTime + recovered }
  private static let wordLimit = 1 << 20
}
