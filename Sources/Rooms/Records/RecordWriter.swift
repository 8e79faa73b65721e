internal import Model
internal import Storage

/// Writes what a journal has heard, on the store's thread.
///
/// Each statement is as good twice as once: a write that may have been done or not is repeated.
enum RecordWriter {
  /// - Parameter run: by which the log's cursors know it.
  static func write(
    _ batch: RecordBatch, run: UInt64, to transaction: borrowing Transaction
  ) throws(StoreError) {
    let events = batch.events.slice(0..<batch.events.count)
    try transaction.run(
      "INSERT INTO events (position, life, id, time, body) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
      each: events.map { entry in
        [
          .integer(Int64(bitPattern: entry.position)), .text(entry.event.room.id.text),
          .integer(entry.event.id),
          .integer(entry.event.time.milliseconds), .bytes(RecordBytes.bytes(of: entry.event)),
        ]
      })
    try write(batch.lives, to: transaction)
    try write(batch.participants, to: transaction)
    try write(batch.tracks, to: transaction)
    try write(batch.removals, to: transaction)
    try InvitationRows.write(batch.invitations, to: transaction)
    try transaction.run(
      """
      INSERT INTO event_log (one, run, last_position) VALUES (1, $1, $2)
      ON CONFLICT (one) DO UPDATE SET run = excluded.run, last_position = excluded.last_position
      """, [.bytes(bytes(of: run)), .integer(Int64(bitPattern: batch.lastPosition))])
  }

  static func bytes(of run: UInt64) -> [UInt8] {
    stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: run >> UInt64($0)) }
  }

  private static func write(
    _ lives: RowChanges<RoomID, RecordBatch.Life>, to transaction: borrowing Transaction
  ) throws(StoreError) {
    let present = lives.present.map(\.value)
    try transaction.run(
      """
      INSERT INTO lives (
        id, name, created, last_event, empty_timeout, departure_timeout, max_participants, stands, reborn, admission, locked,
        data_history
      ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
      ON CONFLICT (id) DO UPDATE SET
        last_event = excluded.last_event, empty_timeout = excluded.empty_timeout,
        departure_timeout = excluded.departure_timeout, max_participants = excluded.max_participants,
        stands = excluded.stands, admission = excluded.admission, locked = excluded.locked,
        data_history = excluded.data_history
      """,
      each: present.map { row in
        [
          .text(row.life.id.text), .bytes(of: row.life.name), .integer(row.life.created.milliseconds),
          .integer(row.lastEvent), .integer(row.settings.emptyTimeout),
          .integer(row.settings.departureTimeout),
          .optional(row.settings.maxParticipants) { .integer($0) }, .integer(row.stands ? 1 : 0),
          .integer(row.life.isReborn ? 1 : 0), .integer(row.settings.admission ? 1 : 0),
          .integer(row.settings.isLocked ? 1 : 0),
          .optional(row.settings.dataHistory) { .bytes(RecordBytes.bytes(of: $0)) },
        ]
      })
    let described = present.filter(\.hasNewMetadata)
    try transaction.run(
      """
      INSERT INTO life_metadata (life, metadata) VALUES ($1, $2)
      ON CONFLICT (life) DO UPDATE SET metadata = excluded.metadata
      """,
      each: described.compactMap { row in
        row.settings.metadata.map { [.text(row.life.id.text), .bytes(of: $0)] }
      })
    let bare = described.filter { $0.settings.metadata == nil }.map(\.life.id) + lives.gone
    try transaction.run("DELETE FROM life_metadata WHERE life = $1", each: bare.map { [.text($0.text)] })
    let gone: [[SQLValue]] = lives.gone.map { [.text($0.text)] }
    try transaction.run("DELETE FROM lives WHERE id = $1", each: gone)
    // Those who were in it have left before; this is for what could not be remembered.
    try transaction.run("DELETE FROM participants WHERE life = $1", each: gone)
    try transaction.run("DELETE FROM tracks WHERE life = $1", each: gone)
    try transaction.run("DELETE FROM invitations WHERE life = $1", each: gone)
  }

  private static func write(
    _ participants: RowChanges<ParticipantID, RecordBatch.Present>, to transaction: borrowing Transaction
  ) throws(StoreError) {
    try transaction.run(
      """
      INSERT INTO participants (id, life, since, body) VALUES ($1, $2, $3, $4)
      ON CONFLICT (id) DO UPDATE SET body = excluded.body
      """,
      each: participants.present.map { id, row in
        [.text(id.text), .text(row.room.text), .integer(row.since), .bytes(RecordBytes.bytes(of: row.info))]
      })
    try transaction.run(
      "DELETE FROM participants WHERE id = $1", each: participants.gone.map { [.text($0.text)] })
  }

  private static func write(
    _ tracks: RowChanges<TrackID, RecordBatch.Published>, to transaction: borrowing Transaction
  ) throws(StoreError) {
    try transaction.run(
      """
      INSERT INTO tracks (id, life, participant, since, body) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (id) DO UPDATE SET body = excluded.body
      """,
      each: tracks.present.map { id, row in
        [
          .text(id.text), .text(row.room.text), .text(row.participant.text), .integer(row.since),
          .bytes(RecordBytes.bytes(of: row.info)),
        ]
      })
    try transaction.run("DELETE FROM tracks WHERE id = $1", each: tracks.gone.map { [.text($0.text)] })
  }

  private static func write(
    _ removals: RowChanges<RecordBatch.RemovalKey, Int>, to transaction: borrowing Transaction
  ) throws(StoreError) {
    try transaction.run(
      """
      INSERT INTO removals (room, identity, time) VALUES ($1, $2, $3)
      ON CONFLICT (room, identity) DO UPDATE SET time = excluded.time
      """,
      each: removals.present.map { [.bytes(of: $0.room.text), .bytes(of: $0.identity.text), .integer($1)] })
    try transaction.run(
      "DELETE FROM removals WHERE room = $1 AND identity = $2",
      each: removals.gone.map { [.bytes(of: $0.room.text), .bytes(of: $0.identity.text)] })
  }
}
