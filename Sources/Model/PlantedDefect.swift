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

    /// A source that has run far ahead of what was sent is not joined to the stream again.
    case noRejoin = "no-rejoin"
    /// Where no section is left, the media plane isn't told.
    case mediaWithoutSections = "media-without-sections"
    /// Who may no longer publish does so in a new section.
    case publishesAgain = "publishes-again"
    /// A track that was muted by an administrator is unmuted by being published again.
    case standingMuteForgotten = "standing-mute-forgotten"
    /// All screens of a participant come before everybody's cameras.
    case screensOutrank = "screens-outrank"
    /// The door alone asks whether an identity was removed, and not the room as it lets one in.
    case removalRaced = "removal-raced"
    /// Any source may be said of a section of any kind, and one without a name is allowed to everybody.
    case sourceUnchecked = "source-unchecked"
    /// What comes in where a peer was until a moment ago is not sent after it.
    case lostAtHandover = "lost-at-handover"
    /// A track that is muted flows again when its publisher has moved.
    case mutedFlowsAfterMove = "muted-flows-after-move"
    /// Nobody asks for a key frame when a track is unmuted.
    case unmuteWithoutKeyFrame = "unmute-without-key-frame"

    /// Set once, before anything runs.
    public nonisolated(unsafe) static var active: PlantedDefect?

    @inlinable public static func isOn(_ defect: PlantedDefect) -> Bool { active == defect }
  }
#endif
