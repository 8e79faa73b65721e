extension Schema {
  /// Version 6: what was pushed to devices, and what became of it; steps of calls that outsiders haven't heard of yet.
  static let wakes = Schema(
    version: 6,
    statements: [
      """
      CREATE TABLE call_deliveries (
        call TEXT NOT NULL, person BLOB NOT NULL, device BLOB NOT NULL, ring TEXT NOT NULL, kind TEXT NOT NULL,
        platform TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL, time INTEGER NOT NULL, tries INTEGER NOT NULL,
        PRIMARY KEY (call, person, device, ring, kind)
      ) STRICT
      """,
      "CREATE INDEX call_deliveries_by_time ON call_deliveries (time)",
      // `session`: empty where it is about the call itself.
      """
      CREATE TABLE call_steps (
        call TEXT NOT NULL, kind TEXT NOT NULL, session TEXT NOT NULL, time INTEGER NOT NULL,
        PRIMARY KEY (call, kind, session)
      ) STRICT
      """,
    ])
}
