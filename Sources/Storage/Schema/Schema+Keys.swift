extension Schema {
  /// Version 4: the log of keys, and whose they are.
  ///
  /// What the log proves is in `key_nodes` alone, which has no person in it: all other rows of one can be deleted.
  static let keys = Schema(
    version: 4,
    statements: [
      // One row: how many leaves the log has, and the key by which its heads are signed; `private_key`: in PEM form, null where the
      // configuration has it.
      """
      CREATE TABLE key_log (
        one INTEGER NOT NULL PRIMARY KEY, size INTEGER NOT NULL, public_key BLOB NOT NULL, private_key BLOB
      ) STRICT
      """,
      // Hashes of whole subtrees, numbered in order: `node` is between the numbers of what is below it.
      "CREATE TABLE key_nodes (node INTEGER NOT NULL PRIMARY KEY, hash BLOB NOT NULL) STRICT",
      "CREATE TABLE key_people (person BLOB NOT NULL PRIMARY KEY, salt BLOB NOT NULL) STRICT",
      // `leaf`: its place in the log, from 0; `algorithm` 0 with an empty `public_key`: a revocation. Times in milliseconds since 1970.
      """
      CREATE TABLE key_entries (
        leaf INTEGER NOT NULL PRIMARY KEY, person BLOB NOT NULL, device BLOB NOT NULL, algorithm INTEGER NOT NULL,
        public_key BLOB NOT NULL, time INTEGER NOT NULL
      ) STRICT
      """,
      "CREATE INDEX key_entries_of_person ON key_entries (person, leaf)",
      "CREATE INDEX key_entries_of_device ON key_entries (person, device, leaf)",
      // The entry that holds for each device that has a key.
      """
      CREATE TABLE current_keys (
        person BLOB NOT NULL, device BLOB NOT NULL, leaf INTEGER NOT NULL, PRIMARY KEY (person, device)
      ) STRICT
      """,
    ])
}
