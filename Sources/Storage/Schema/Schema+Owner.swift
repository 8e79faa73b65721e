extension Schema {
  /// Version 14: which process has opened the database last. A process whose connection was lost sees by it whether another one has been
  /// there meanwhile.
  static let owner = Schema(
    version: 14,
    statements: [
      // One row, with a number that the process has made up. SQLite's has none: its lock stays for as long as the process.
      "CREATE TABLE store_owner (one INTEGER NOT NULL PRIMARY KEY, id BLOB NOT NULL) STRICT"
    ])
}
