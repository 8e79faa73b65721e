internal import Model

/// Layers of an encoding that its publisher announces and that don't flow.
///
/// One counts before it flows, for as long as its publisher may take to send it. If nothing comes it counts no more for a while,
/// however often it is announced: it would take room from what does come.
struct ExpectedLayers {
  /// By layer of size: since when it has been expected.
  private var since: InlineArray<3, Instant?> = InlineArray(repeating: nil)
  private(set) var isAny = false
  private var wasAnnounced = false
  private var backAt = Instant(nanoseconds: .min / 2)

  /// Another look at all layers.
  mutating func begin() { isAny = false }

  /// - Returns: whether the layer counts although it doesn't flow.
  mutating func look(_ spatial: Int, isAnnounced: Bool, flows: Bool, now: Instant) -> Bool {
    let isOver = since[spatial].map { now - $0 >= EncodingMonitor.failure } ?? false
    if flows || isOver { since[spatial] = nil }
    guard isAnnounced, !flows else { return false }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.announcedForEver) {
        isAny = true
        return true
      }
    #endif
    let began = since[spatial] ?? now
    since[spatial] = began
    let counts = now - began < EncodingMonitor.startup
    isAny = isAny || counts
    return counts
  }

  /// Whether its publisher says that there is room again for an encoding that had failed: it is tried at once, but not at each such
  /// word.
  mutating func isBack(_ announced: EncodingAnnouncement?, failedAt: Instant, now: Instant) -> Bool {
    let isAnnounced = announced?.isActive == true
    defer { wasAnnounced = isAnnounced }
    guard let announced, isAnnounced, !wasAnnounced, announced.arrival > failedAt,
      now - backAt >= EncodingMonitor.failure
    else { return false }
    backAt = now
    return true
  }
}
