extension Schema {
  /// Version 2: how far receivers of events have come.
  static let deliveries = Schema(
    version: 2,
    statements: [
      // Everything up to the position `floor` has arrived or was given up.
      "CREATE TABLE event_receivers (receiver BLOB NOT NULL PRIMARY KEY, floor INTEGER NOT NULL) STRICT",
      // Beyond it, by room: all up to the event `id`, which has that position.
      """
      CREATE TABLE event_deliveries (
        receiver BLOB NOT NULL, life TEXT NOT NULL, id INTEGER NOT NULL, position INTEGER NOT NULL,
        PRIMARY KEY (receiver, life)
      ) STRICT
      """,
    ])
}
