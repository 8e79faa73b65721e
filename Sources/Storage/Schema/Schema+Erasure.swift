extension Schema {
  /// Version 10: all that is kept of a person is found by the person as it is erased, however much there is of others.
  static let erasure = Schema(
    version: 10,
    statements: [
      "CREATE INDEX call_deliveries_of_person ON call_deliveries (person)",
      "CREATE INDEX blocks_of_blocked ON blocks (blocked)",
    ])
}
