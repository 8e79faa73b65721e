extension Schema {
  /// Version 9: what a person asks of calls costs what it is answered, however much there is that it isn't about; and signals to one
  /// who has blocked the caller are counted as those that wait.
  static let lookups = Schema(
    version: 9,
    statements: [
      // All that a list of calls is asked by, in this order, so that what isn't shown is passed over.
      "DROP INDEX call_people_by_time",
      "CREATE INDEX call_people_shown ON call_people (person, hidden, forgotten, created, call)",
      "CREATE INDEX call_people_by_state ON call_people (person, open, hidden, forgotten, created, call)",
      // Those that aren't over, in their order: by an index without it SQLite goes through all that a person is of.
      "DROP INDEX call_people_open",
      "CREATE INDEX call_people_open ON call_people (person, created) WHERE open = 1",
      // Those of a call to one person beyond a number: the key would find all that the person has heard since.
      "DROP INDEX call_events_of_signals",
      "CREATE INDEX call_events_of_signals ON call_events (call, person, number) WHERE kind = 'call.signal'",
      // Of signals from the one to the other that are kept nowhere, since the recipient has blocked who called it.
      "ALTER TABLE call_signals ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0",
    ])
}
