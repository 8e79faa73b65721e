extension Schema {
  /// Version 5: the keys of calls that are encrypted end to end, each wrapped for a device.
  static let callKeys = Schema(
    version: 5,
    statements: [
      // A row for each such call whose keys are kept; `last`: the number of the key that it has now, from 0.
      "CREATE TABLE call_key_rounds (call TEXT NOT NULL PRIMARY KEY, last INTEGER NOT NULL) STRICT",
      // What a device has of the call's key: `round`, its number; `key_id`, the key of the device that it is wrapped for; `sender`, who
      // has wrapped it.
      """
      CREATE TABLE call_keys (
        call TEXT NOT NULL, person BLOB NOT NULL, device BLOB NOT NULL, round INTEGER NOT NULL, key_id BLOB NOT NULL,
        sender BLOB NOT NULL, ciphertext BLOB NOT NULL, PRIMARY KEY (call, person, device)
      ) STRICT
      """,
      "CREATE INDEX call_keys_of_person ON call_keys (person)",
    ])
}
