extension Schema {
  /// Version 12: who is in a call now is found by the person, however many calls name that one. What others start names whom they like; in
  /// a call is who has come into it.
  static let presence = Schema(
    version: 12,
    statements: [
      // `active`: the person is in the call. Of calls that were begun before, the server says so as it takes them on.
      "ALTER TABLE call_people ADD COLUMN active INTEGER NOT NULL DEFAULT 0",
      "CREATE INDEX call_people_active ON call_people (person, created, call) WHERE active = 1",
    ])
}
