extension Schema {
  /// Version 3: calls.
  static let calls = Schema(version: 3, statements: [])
}
