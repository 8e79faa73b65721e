extension Schema {
  /// Version 11: people whose erasure has begun and isn't done. It goes on after a restart.
  static let erasures = Schema(
    version: 11,
    statements: [
      // What is of the person goes that was there at `time` (milliseconds since 1970), and of what it has heard all up to `event`.
      """
      CREATE TABLE erasures (
        person BLOB NOT NULL PRIMARY KEY, time INTEGER NOT NULL, event INTEGER NOT NULL
      ) STRICT
      """
    ])
}
