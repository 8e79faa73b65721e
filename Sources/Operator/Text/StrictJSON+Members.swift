internal import AccessTokens

extension StrictJSON {
  /// As it is printed.
  var line: String { TerminalText.json(text) + "\n" }

  /// A member of an object; nil where there is none, or it is null.
  subscript(name: String) -> StrictJSON? {
    guard case .object(let members) = self, let value = members[name], value != .null else { return nil }
    return value
  }

  var string: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  var double: Double? {
    guard case .number(let value) = self else { return nil }
    return value
  }

  /// nil: no whole number that is exact.
  var integer: Int? { double.flatMap { Int(exactly: $0) } }

  var boolean: Bool? {
    guard case .boolean(let value) = self else { return nil }
    return value
  }

  var array: [StrictJSON]? {
    guard case .array(let items) = self else { return nil }
    return items
  }

  var object: [String: StrictJSON]? {
    guard case .object(let members) = self else { return nil }
    return members
  }
}
