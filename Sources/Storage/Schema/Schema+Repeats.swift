extension Schema {
  /// Version 7: events of shared sessions that are sent again are known behind a snapshot too, and what is to be forgotten is found
  /// without looking at what was forgotten already.
  static let repeats = Schema(
    version: 7,
    statements: [
      // Of all that a client has said in it. One whose content has gone keeps its row, with this. NULL: it was written before this
      // version.
      "ALTER TABLE shared_events ADD COLUMN digest BLOB",
      // Up to `floor` no event is given out any more; behind the end of a session that may be more than it has. `has_events`: it has
      // rows there.
      "ALTER TABLE shared_sessions ADD COLUMN floor INTEGER NOT NULL DEFAULT 0",
      "ALTER TABLE shared_sessions ADD COLUMN has_events INTEGER NOT NULL DEFAULT 1",
      // What was compacted before has no rows.
      """
      UPDATE shared_sessions SET floor = COALESCE(
        (SELECT MIN(e.seq) - 1 FROM shared_events e WHERE e.session = shared_sessions.id),
        CASE WHEN ended IS NULL THEN 0 ELSE 9223372036854775807 END)
      """,
      "UPDATE shared_sessions SET has_events = 0 WHERE floor = 9223372036854775807",
      "CREATE INDEX shared_sessions_with_events ON shared_sessions (has_events, ended)",
      // Those of a call, whose payloads go with it.
      "CREATE INDEX call_events_of_signals ON call_events (call) WHERE kind = 'call.signal'",
    ])
}
