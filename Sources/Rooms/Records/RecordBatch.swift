internal import Model

/// What is written at once.
struct RecordBatch: Sendable {
  struct Event: Sendable {
    let position: UInt64
    let event: RoomEvent
    let bytes: Int
  }

  /// A room as its row has it.
  struct Life: Equatable, Sendable {
    var life: RoomLife
    var settings: RoomSettings
    var lastEvent = 0
    var stands = true
    /// What the table has of its metadata is another one.
    var hasNewMetadata = true
    /// The table has it, or may have it.
    var isKnown = false
  }

  struct Present: Sendable {
    let room: RoomID
    /// The number of the event by which it began.
    let since: Int
    let info: ParticipantInfo
  }

  struct Published: Sendable {
    let room: RoomID
    let participant: ParticipantID
    let since: Int
    let info: TrackInfo
  }

  struct RemovalKey: Hashable, Sendable {
    let room: ExactName
    let identity: ExactName
  }

  var events = EventQueue<Event>()
  /// Of the events, about, as they are written.
  var eventBytes = 0
  var lives = RowChanges<RoomID, Life>()
  var participants = RowChanges<ParticipantID, Present>()
  var tracks = RowChanges<TrackID, Published>()
  /// When each was.
  var removals = RowChanges<RemovalKey, Int>()
  var invitations = RowChanges<InvitationID, Invitation>()
  /// Of the event that was recorded last, whether it is among these or not.
  var lastPosition: UInt64 = 0

  /// Roughly, in memory.
  var bytes: Int {
    eventBytes + 256
      * (lives.byKey.count + participants.byKey.count + tracks.byKey.count + removals.byKey.count
        + 2 * invitations.byKey.count)
  }
}
