extension Schema {
  /// Version 3: calls, who is in them, what each person hears of them, devices, blocks and signals.
  ///
  /// Times are milliseconds since 1970, but for `deadline`, which is on the clock of the process that has the database: with
  /// `clock`, how far the time of day is ahead of it.
  static let calls = Schema(
    version: 3,
    statements: [
      // Who has ever come or was called. `last_event`: the number of the last event that the person has; up to `gone_event`
      // none is kept.
      """
      CREATE TABLE persons (
        person BLOB NOT NULL PRIMARY KEY, name BLOB, last_event INTEGER NOT NULL, gone_event INTEGER NOT NULL,
        erased INTEGER NOT NULL
      ) STRICT
      """,
      """
      CREATE TABLE calls (
        id TEXT NOT NULL PRIMARY KEY, room BLOB, api_key BLOB NOT NULL, created INTEGER NOT NULL, ended INTEGER,
        deadline INTEGER, clock INTEGER NOT NULL, request BLOB NOT NULL, state BLOB NOT NULL
      ) STRICT
      """,
      "CREATE INDEX calls_by_deadline ON calls (deadline)",
      "CREATE INDEX calls_by_end ON calls (ended)",
      "CREATE UNIQUE INDEX calls_by_room ON calls (room)",
      // `open`: the call isn't over; `hidden`: for that person there is no such call; `forgotten`: it is out of the person's history.
      """
      CREATE TABLE call_people (
        person BLOB NOT NULL, call TEXT NOT NULL, created INTEGER NOT NULL, open INTEGER NOT NULL,
        hidden INTEGER NOT NULL, forgotten INTEGER NOT NULL, PRIMARY KEY (person, call)
      ) STRICT
      """,
      "CREATE INDEX call_people_by_time ON call_people (person, created, call)",
      "CREATE INDEX call_people_open ON call_people (person, open)",
      "CREATE INDEX call_people_of_call ON call_people (call)",
      // `device`: it is for that one alone.
      """
      CREATE TABLE call_events (
        person BLOB NOT NULL, number INTEGER NOT NULL, time INTEGER NOT NULL, kind TEXT NOT NULL, call TEXT,
        device BLOB, body BLOB NOT NULL, PRIMARY KEY (person, number)
      ) STRICT
      """,
      "CREATE INDEX call_events_by_time ON call_events (time)",
      // Answers to requests with an id or key of the client's, for when it asks again.
      """
      CREATE TABLE call_answers (
        person BLOB NOT NULL, request BLOB NOT NULL, content BLOB NOT NULL, time INTEGER NOT NULL,
        body BLOB NOT NULL, PRIMARY KEY (person, request)
      ) STRICT
      """,
      "CREATE INDEX call_answers_by_time ON call_answers (time)",
      """
      CREATE TABLE devices (
        person BLOB NOT NULL, device BLOB NOT NULL, platform TEXT NOT NULL, topic BLOB NOT NULL, token BLOB NOT NULL,
        environment TEXT NOT NULL, screen TEXT NOT NULL, registered INTEGER NOT NULL, used INTEGER NOT NULL,
        PRIMARY KEY (person, device)
      ) STRICT
      """,
      "CREATE UNIQUE INDEX devices_by_token ON devices (platform, topic, token)",
      "CREATE INDEX devices_by_use ON devices (used)",
      """
      CREATE TABLE blocks (
        person BLOB NOT NULL, blocked BLOB NOT NULL, time INTEGER NOT NULL, PRIMARY KEY (person, blocked)
      ) STRICT
      """,
      // The number of the last signal from one to the other in a call.
      """
      CREATE TABLE call_signals (
        call TEXT NOT NULL, sender BLOB NOT NULL, recipient BLOB NOT NULL, last INTEGER NOT NULL,
        PRIMARY KEY (call, sender, recipient)
      ) STRICT
      """,
      // What people of a call share, with `deadline` and `clock` as calls have them.
      """
      CREATE TABLE shared_sessions (
        id TEXT NOT NULL PRIMARY KEY, call TEXT NOT NULL, ended INTEGER, deadline INTEGER, clock INTEGER NOT NULL,
        last_event TEXT, state BLOB NOT NULL
      ) STRICT
      """,
      "CREATE INDEX shared_sessions_of_call ON shared_sessions (call)",
      "CREATE INDEX shared_sessions_by_deadline ON shared_sessions (deadline)",
      "CREATE INDEX shared_sessions_by_end ON shared_sessions (ended)",
      // `sender`: NULL: the server itself.
      """
      CREATE TABLE shared_events (
        session TEXT NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL, type BLOB NOT NULL, sender BLOB,
        time INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (session, seq)
      ) STRICT
      """,
      "CREATE UNIQUE INDEX shared_events_by_id ON shared_events (session, id)",
      """
      CREATE TABLE shared_snapshots (
        session TEXT NOT NULL PRIMARY KEY, seq INTEGER NOT NULL, time INTEGER NOT NULL, people BLOB NOT NULL,
        state BLOB NOT NULL
      ) STRICT
      """,
    ])
}
