extension Schema {
  /// Version 8: who has come is known apart from who was only called, and since when a person is erased; what is kept of a person is
  /// found by the person and its time.
  static let people = Schema(
    version: 8,
    statements: [
      // `came`: the person has acted by a token of its own. 0: others have named it and nothing more, or it is erased; its row goes with
      // the last call that it is of. `erased`: when that was, from this version on; 0: it isn't.
      "ALTER TABLE persons ADD COLUMN came INTEGER NOT NULL DEFAULT 0",
      """
      UPDATE persons SET came = 1 WHERE erased = 0 AND (name IS NOT NULL
        OR EXISTS (SELECT 1 FROM devices d WHERE d.person = persons.person)
        OR EXISTS (SELECT 1 FROM key_people k WHERE k.person = persons.person)
        OR EXISTS (SELECT 1 FROM call_answers a WHERE a.person = persons.person))
      """,
      // Those whose calls went before this version.
      """
      DELETE FROM persons WHERE came = 0 AND erased = 0
        AND NOT EXISTS (SELECT 1 FROM call_people p WHERE p.person = persons.person)
        AND NOT EXISTS (SELECT 1 FROM call_events e WHERE e.person = persons.person)
      """,
      "CREATE INDEX persons_who_came ON persons (person) WHERE came = 1",
      "CREATE INDEX persons_erased ON persons (erased) WHERE erased > 0",
      "CREATE INDEX call_answers_of_person ON call_answers (person, time)",
      // Steps go with their call from now on.
      "DELETE FROM call_steps WHERE NOT EXISTS (SELECT 1 FROM calls c WHERE c.id = call_steps.call)",
    ])
}
