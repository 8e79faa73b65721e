extension Schema {
  /// Version 12: an index finds the calls that a person has joined, however many calls name that person. Anyone may start a call that
  /// names a person; only joining puts the person in it.
  static let presence = Schema(
    version: 12,
    statements: [
      // `active`: the person is in the call. Of calls that were begun before, the server says so as it takes them on.
      "ALTER TABLE call_people ADD COLUMN active INTEGER NOT NULL DEFAULT 0",
      "CREATE INDEX call_people_active ON call_people (person, created, call) WHERE active = 1",
    ])
}
