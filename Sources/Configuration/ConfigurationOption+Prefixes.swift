internal import Model

extension ConfigurationOption {
  /// Addresses and networks, at most 64.
  static func prefixes(
    _ name: String, _ path: Path<[AddressPrefix]>, _ explanation: String, _ change: Change = .atStart
  ) -> Self {
    let set: @Sendable (inout Configuration, [String]) -> Bool = { configuration, texts in
      let prefixes = texts.compactMap { AddressPrefix($0) }
      guard prefixes.count == texts.count, prefixes.count <= 64 else { return false }
      configuration[keyPath: path] = prefixes
      return true
    }
    return Self(
      name: name, explanation: explanation,
      expectation: "a list of up to 64 IP addresses or networks such as 10.0.0.0/8", change: change,
      isSecret: false,
      setTree: { configuration, tree in tree.strings.map { set(&configuration, $0) } ?? false },
      setText: { set(&$0, $1.isEmpty ? [] : $1.split(separator: ",").map { String($0.trimmed) }) },
      render: { configuration in
        "[" + configuration[keyPath: path].map { JSONTree.quoted("\($0)") }.joined(separator: ", ") + "]"
      })
  }
}
