#if PLANTED_DEFECTS
  /// Mistakes that are in no build but that of `ROOST_DEFECTS=1`, where one of them is switched on at a time: what finds
  /// mistakes has to find these.
  public enum PlantedDefect: String, CaseIterable, Sendable {
    /// A stream's numbers jump where another source takes over.
    case sequenceJump = "sequence-jump"
    /// Two packets go out under one index.
    case indexSealedTwice = "index-sealed-twice"
    /// A slot that was emptied shows on what it showed.
    case missingSubscriptionCheck = "missing-subscription-check"
    /// A peer that is gone leaves its timer armed.
    case timerLeak = "timer-leak"
    /// A peer that is put back doesn't know how often numbers have rolled over.
    case staleRollover = "stale-rollover"
    /// A session ends without a word on its socket.
    case lostClosed = "lost-closed"

    /// Set once, before anything runs.
    public nonisolated(unsafe) static var active: PlantedDefect?

    @inlinable public static func isOn(_ defect: PlantedDefect) -> Bool { active == defect }
  }
#endif
