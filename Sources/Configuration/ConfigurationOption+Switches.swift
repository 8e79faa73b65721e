extension ConfigurationOption {
  static func flag(
    _ name: String, _ path: Path<Bool>, _ explanation: String, _ change: Change = .atStart
  ) -> Self {
    Self(
      name: name, explanation: explanation, expectation: "true or false", change: change, isSecret: false,
      setTree: {
        guard case .boolean(let value) = $1 else { return false }
        $0[keyPath: path] = value
        return true
      },
      setText: {
        guard let value = Bool($1) else { return false }
        $0[keyPath: path] = value
        return true
      },
      render: { String($0[keyPath: path]) })
  }

  /// Origins as a browser names them (RFC 6454 §6.2), or `*`.
  static func origins(
    _ name: String, _ path: Path<[String]>, _ explanation: String, _ change: Change = .atStart
  ) -> Self {
    let set: @Sendable (inout Configuration, [String]) -> Bool = {
      guard $1.count <= 64, $1.allSatisfy({ $0 == "*" || isOrigin($0) }) else { return false }
      $0[keyPath: path] = $1
      return true
    }
    return Self(
      name: name, explanation: explanation,
      expectation: "a list of up to 64 origins such as https://desk.example, or \"*\"", change: change,
      isSecret: false,
      setTree: { configuration, tree in tree.strings.map { set(&configuration, $0) } ?? false },
      setText: { set(&$0, $1.isEmpty ? [] : $1.split(separator: ",").map { String($0.trimmed) }) },
      render: { "[" + $0[keyPath: path].map { JSONTree.quoted($0) }.joined(separator: ", ") + "]" })
  }

  /// In lower case and without path, since browsers send it so and it is compared byte by byte.
  private static func isOrigin(_ text: String) -> Bool {
    guard let scheme = ["https://", "http://"].first(where: text.hasPrefix) else { return false }
    let authority = text.dropFirst(scheme.count)
    return (1...255).contains(authority.utf8.count)
      && authority.utf8.allSatisfy { byte in
        switch byte {
        case 48...57, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "["),
          UInt8(ascii: "]"):
          true
        default: false
        }
      }
  }
}
