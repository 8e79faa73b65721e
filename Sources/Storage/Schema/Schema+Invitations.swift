extension Schema {
  /// Version 11: rooms that ask their hosts whom to let in, are locked, or keep messages for those who come later; and invitations.
  static let invitations = Schema(
    version: 13,
    statements: [
      "ALTER TABLE lives ADD COLUMN admission INTEGER NOT NULL DEFAULT 0",
      "ALTER TABLE lives ADD COLUMN locked INTEGER NOT NULL DEFAULT 0",
      // Which messages it keeps; NULL: none.
      "ALTER TABLE lives ADD COLUMN data_history BLOB",
      // They go with their room, or when they are over.
      "CREATE TABLE invitations (id TEXT NOT NULL PRIMARY KEY, life TEXT NOT NULL, body BLOB NOT NULL) STRICT",
      "CREATE INDEX invitations_of_life ON invitations (life)",
    ])
}
