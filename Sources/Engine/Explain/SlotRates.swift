internal import Media
internal import Model

/// How much leaves in each slot of a worker's peers, smoothed over about half a second, and what is sent again. Looked at ten times a
/// second while there is video; no state: after a move it is measured again.
struct SlotRates {
  private struct Slot {
    var octets: UInt32
    var packets: UInt32
    var rate: Float = 0
    /// As `rate`, falling by a tenth in a second: between two sentences room is kept for the next.
    var held: Float = 0
    var samples: UInt8 = 0
  }

  private struct Entry {
    /// A place is another peer's later.
    var peer: PeerKey
    var sampledAt: Instant
    var slots: [Int: Slot] = [:]
    /// Bytes that were sent again, and bits per second.
    var repaired: UInt64
    var repairs: Float = 0
  }

  /// Of RTP, UDP and IPv4; what SRTP and header extensions add isn't counted.
  private static let headers: UInt32 = 12 + 28
  private static let weight: Float = 0.2
  private static let fall: Float = 0.99
  private static let mostHeld: Float = 128_000
  private static let repairWeight: Float = 0.1
  private var entries: [Entry?]

  init(places: Int) { entries = Array(repeating: nil, count: places) }

  /// Takes what the slots in use have sent by now.
  /// - Parameter repaired: bytes that were sent again by now.
  mutating func sample(
    _ place: Int, _ peer: PeerKey, now: Instant, _ counts: [(slot: Int, packets: UInt32, octets: UInt32)],
    repaired: UInt64
  ) {
    let known = entries[place].flatMap { $0.peer == peer ? $0 : nil }
    var entry = Entry(peer: peer, sampledAt: now, repaired: repaired)
    let span = known.map { Float((now - $0.sampledAt).wholeNanoseconds) / 1e9 } ?? 0
    if let known, span > 0 {
      // A peer that was rebuilt counts from zero.
      let rate = repaired >= known.repaired ? Float(repaired - known.repaired) * 8 / span : 0
      entry.repairs = known.repairs + (rate - known.repairs) * Self.repairWeight
    }
    for (slot, packets, octets) in counts {
      var new = Slot(octets: octets, packets: packets)
      // One whose stream is another counts from zero, and is measured from there.
      if let old = known?.slots[slot], span > 0, octets &- old.octets < 1 << 31 {
        let bytes = (octets &- old.octets) &+ (packets &- old.packets) &* Self.headers
        let rate = Float(bytes) * 8 / span
        new.rate = old.samples == 0 ? rate : old.rate + (rate - old.rate) * Self.weight
        // A burst that lasts a moment keeps no room from pictures.
        new.held = max(new.rate, min(old.held * Self.fall, new.rate + Self.mostHeld))
        new.samples = min(old.samples &+ 1, 2)
      }
      entry.slots[slot] = new
    }
    entries[place] = entry
  }

  /// Bits per second; nil: not measured yet.
  func rate(_ place: Int, _ peer: PeerKey, slot: Int) -> Double? {
    guard let entry = entries[place], entry.peer == peer, let slot = entry.slots[slot], slot.samples > 0
    else { return nil }
    return Double(slot.rate)
  }

  /// Bits per second to be kept free for a slot that is silent now and then; nil: not measured yet.
  func reserve(_ place: Int, _ peer: PeerKey, slot: Int) -> Double? {
    guard let entry = entries[place], entry.peer == peer, let slot = entry.slots[slot], slot.samples > 1
    else { return nil }
    return Double(slot.held)
  }

  /// Bits per second that are sent again.
  func repairs(_ place: Int, _ peer: PeerKey) -> Double {
    guard let entry = entries[place], entry.peer == peer else { return 0 }
    return Double(entry.repairs)
  }
}
