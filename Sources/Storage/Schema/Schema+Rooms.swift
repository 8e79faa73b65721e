extension Schema {
  /// Version 1: rooms, who is in them, what happened in them, and removals.
  ///
  /// What strangers have written is kept as bytes: it is equal where all bytes are, and may have any characters. Columns of
  /// times have milliseconds since 1970, but for removals, which have seconds, as tokens do.
  static let rooms = Schema(
    version: 1,
    statements: [
      // A room under its id, from its first event to its last; `stands`: it has its name still; `reborn`: another one that
      // had it before was known then.
      """
      CREATE TABLE lives (
        id TEXT NOT NULL PRIMARY KEY, name BLOB NOT NULL, created INTEGER NOT NULL, last_event INTEGER NOT NULL,
        empty_timeout INTEGER NOT NULL, departure_timeout INTEGER NOT NULL, max_participants INTEGER,
        stands INTEGER NOT NULL, reborn INTEGER NOT NULL
      ) STRICT
      """,
      // Apart, since it may be long and the rest of a room is written with each group of its events.
      "CREATE TABLE life_metadata (life TEXT NOT NULL PRIMARY KEY, metadata BLOB NOT NULL) STRICT",
      // Who is in a room, but for hidden ones; `since`: the number of the event by which that began.
      """
      CREATE TABLE participants (
        id TEXT NOT NULL PRIMARY KEY, life TEXT NOT NULL, since INTEGER NOT NULL, body BLOB NOT NULL
      ) STRICT
      """,
      "CREATE INDEX participants_of_life ON participants (life)",
      """
      CREATE TABLE tracks (
        id TEXT NOT NULL PRIMARY KEY, life TEXT NOT NULL, participant TEXT NOT NULL, since INTEGER NOT NULL,
        body BLOB NOT NULL
      ) STRICT
      """,
      "CREATE INDEX tracks_of_life ON tracks (life)",
      // `position`: among the events of all rooms, from 1; `id`: among those of its own.
      """
      CREATE TABLE events (
        position INTEGER NOT NULL PRIMARY KEY, life TEXT NOT NULL, id INTEGER NOT NULL, time INTEGER NOT NULL,
        body BLOB NOT NULL
      ) STRICT
      """,
      "CREATE UNIQUE INDEX events_of_life ON events (life, id)",
      // One row: by which name the log's cursors know it, and the last position that it has given.
      "CREATE TABLE event_log (one INTEGER NOT NULL PRIMARY KEY, run BLOB NOT NULL, last_position INTEGER NOT NULL) STRICT",
      """
      CREATE TABLE removals (
        room BLOB NOT NULL, identity BLOB NOT NULL, time INTEGER NOT NULL, PRIMARY KEY (room, identity)
      ) STRICT
      """,
    ])
}
