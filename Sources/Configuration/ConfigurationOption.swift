internal import Model

/// One option: its name, what it takes, and where its value goes. The default is that of `Configuration()`.
public struct ConfigurationOption: Sendable {
  /// When a change of the value takes effect.
  public enum Change: Equatable, Sendable {
    case atStart
    case whileRunning
  }

  /// Dotted, as in `media.port`.
  public let name: String
  /// One sentence.
  public let explanation: String
  /// What it takes, in words.
  public let expectation: String
  public let change: Change
  /// Whether its values are never shown.
  public let isSecret: Bool

  /// Takes a value from a file; false if it isn't one.
  let setTree: @Sendable (inout Configuration, JSONTree) -> Bool
  /// Takes a value from the environment or the command line.
  let setText: @Sendable (inout Configuration, String) -> Bool
  /// The value as JSON5.
  let render: @Sendable (Configuration) -> String

  /// `ROOST_MEDIA_RECEIVE_BUFFER_BYTES` for `media.receiveBufferBytes`.
  public var environmentName: String {
    var text = "ROOST_"
    for character in name {
      if character == "." {
        text += "_"
      } else {
        text += character.isUppercase ? "_\(character)" : character.uppercased()
      }
    }
    return text
  }
}

extension ConfigurationOption {
  typealias Path<Value> = any WritableKeyPath<Configuration, Value> & Sendable

  static func integer(
    _ name: String, _ path: Path<Int>, _ range: ClosedRange<Int>, _ explanation: String,
    _ change: Change = .atStart
  ) -> Self {
    Self(
      name: name, explanation: explanation,
      expectation: "a whole number from \(range.lowerBound) to \(range.upperBound)", change: change,
      isSecret: false,
      setTree: {
        guard case .integer(let value) = $1, range.contains(value) else { return false }
        $0[keyPath: path] = value
        return true
      },
      setText: {
        guard let value = Int($1), range.contains(value) else { return false }
        $0[keyPath: path] = value
        return true
      },
      render: { String($0[keyPath: path]) })
  }

  static func choice<Value: RawRepresentable<String> & CaseIterable & Sendable>(
    _ name: String, _ path: Path<Value>, _ explanation: String, _ change: Change = .atStart
  ) -> Self {
    let set: @Sendable (inout Configuration, String) -> Bool = {
      guard let value = Value(rawValue: $1) else { return false }
      $0[keyPath: path] = value
      return true
    }
    return Self(
      name: name, explanation: explanation,
      expectation: "one of " + Value.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "),
      change: change, isSecret: false,
      setTree: { if case .string(let text) = $1 { set(&$0, text) } else { false } },
      setText: set,
      render: { JSONTree.quoted($0[keyPath: path].rawValue) })
  }

  /// - Parameter schemes: of RFC 7064 and RFC 7065.
  static func urls(
    _ name: String, _ path: Path<[String]>, _ schemes: [String], _ explanation: String,
    _ change: Change = .atStart
  ) -> Self {
    let set: @Sendable (inout Configuration, [String]) -> Bool = {
      guard $1.count <= 16, $1.allSatisfy({ ICEServerURL.isWellFormed($0, schemes: schemes) }) else {
        return false
      }
      $0[keyPath: path] = $1
      return true
    }
    let forms = schemes.map { "\($0):host:port" }.joined(separator: " or ")
    return Self(
      name: name, explanation: explanation, expectation: "a list of up to 16 URLs such as \(forms)",
      change: change, isSecret: false,
      setTree: { configuration, tree in tree.strings.map { set(&configuration, $0) } ?? false },
      setText: { set(&$0, $1.isEmpty ? [] : $1.split(separator: ",").map { String($0.trimmed) }) },
      render: { "[" + $0[keyPath: path].map { JSONTree.quoted($0) }.joined(separator: ", ") + "]" })
  }

  /// Receivers of webhooks, each with the key that signs.
  static func webhooks(
    _ name: String, _ path: Path<[String]>, _ explanation: String, _ change: Change = .atStart
  ) -> Self {
    let set: @Sendable (inout Configuration, [String]) -> Bool = {
      // One receiver has one key: what it has had is remembered by its URL.
      let urls = $1.compactMap { WebhookURL($0)?.url }
      guard $1.count <= 16, urls.count == $1.count, Set(urls).count == urls.count else { return false }
      $0[keyPath: path] = $1
      return true
    }
    return Self(
      name: name, explanation: explanation,
      expectation: "a list of up to 16 URLs, each once, such as https://desk.example/roost#myKey",
      change: change,
      isSecret: false,
      setTree: { configuration, tree in tree.strings.map { set(&configuration, $0) } ?? false },
      setText: { set(&$0, $1.isEmpty ? [] : $1.split(separator: ",").map { String($0.trimmed) }) },
      render: { "[" + $0[keyPath: path].map { JSONTree.quoted($0) }.joined(separator: ", ") + "]" })
  }

  static func secret(
    _ name: String, _ path: Path<String>, _ explanation: String, _ change: Change = .atStart
  ) -> Self {
    let set: @Sendable (inout Configuration, String) -> Bool = {
      guard $1.utf8.count <= 1_024 else { return false }
      $0[keyPath: path] = $1
      return true
    }
    return Self(
      name: name, explanation: explanation, expectation: "a string of up to 1024 bytes", change: change,
      isSecret: true,
      setTree: { if case .string(let text) = $1 { set(&$0, text) } else { false } },
      setText: set,
      render: { $0[keyPath: path].isEmpty ? "\"\"" : "\"(hidden)\"" })
  }

  static func text(
    _ name: String, _ path: Path<String>, _ expectation: String, _ explanation: String,
    _ isGood: @escaping @Sendable (String) -> Bool, _ change: Change = .atStart
  ) -> Self {
    let set: @Sendable (inout Configuration, String) -> Bool = {
      guard $1.utf8.count <= 1_024, isGood($1) else { return false }
      $0[keyPath: path] = $1
      return true
    }
    return Self(
      name: name, explanation: explanation, expectation: expectation, change: change, isSecret: false,
      setTree: { if case .string(let text) = $1 { set(&$0, text) } else { false } },
      setText: set,
      render: { JSONTree.quoted($0[keyPath: path]) })
  }

  static func path(
    _ name: String, _ path: Path<String>, _ explanation: String, of kind: String = "file",
    _ change: Change = .atStart
  ) -> Self {
    let set: @Sendable (inout Configuration, String) -> Bool = {
      guard $1.utf8.count <= 4096, !$1.utf8.contains(0) else { return false }
      $0[keyPath: path] = $1
      return true
    }
    return Self(
      name: name, explanation: explanation, expectation: "a \(kind)'s path, or \"\" for none", change: change,
      isSecret: false,
      setTree: { if case .string(let text) = $1 { set(&$0, text) } else { false } },
      setText: set,
      render: { JSONTree.quoted($0[keyPath: path]) })
  }

  static func videoCodecs(
    _ name: String, _ path: Path<[Codec]>, _ explanation: String, _ change: Change = .atStart
  ) -> Self {
    let known = Codec.allCases.filter { $0.kind == .video }
    let set: @Sendable (inout Configuration, [String]) -> Bool = { configuration, texts in
      let codecs = texts.compactMap { text in
        known.first { $0.encodingName.lowercased() == text.lowercased() }
      }
      guard !codecs.isEmpty, codecs.count == texts.count, Set(codecs).count == codecs.count else {
        return false
      }
      configuration[keyPath: path] = codecs
      return true
    }
    return Self(
      name: name, explanation: explanation,
      expectation: "a list of " + known.map { JSONTree.quoted($0.encodingName) }.joined(separator: ", ")
        + ", each at most once",
      change: change, isSecret: false,
      setTree: { configuration, tree in tree.strings.map { set(&configuration, $0) } ?? false },
      setText: { set(&$0, $1.split(separator: ",").map { String($0.trimmed) }) },
      render: { configuration in
        let names = configuration[keyPath: path].map { JSONTree.quoted($0.encodingName) }
        return "[" + names.joined(separator: ", ") + "]"
      })
  }

  static func keys(
    _ name: String, _ path: Path<[String: String]>, _ explanation: String, _ change: Change = .atStart
  ) -> Self {
    let set: @Sendable (inout Configuration, [String: String]) -> Bool = { configuration, pairs in
      guard pairs.count <= 64,
        pairs.allSatisfy({ (1...128).contains($0.key.utf8.count) && !$0.value.isEmpty })
      else { return false }
      configuration[keyPath: path] = pairs
      return true
    }
    return Self(
      name: name, explanation: explanation,
      expectation: "up to 64 pairs, { apiKey: \"secret\" } in a file, apiKey:secret,… elsewhere",
      change: change, isSecret: true,
      setTree: { configuration, tree in tree.stringPairs.map { set(&configuration, $0) } ?? false },
      setText: { configuration, text in
        var pairs: [String: String] = [:]
        for item in text.split(separator: ",") {
          let parts = item.split(separator: ":", maxSplits: 1)
          guard parts.count == 2, pairs.updateValue(String(parts[1]), forKey: String(parts[0].trimmed)) == nil
          else { return false }
        }
        return set(&configuration, pairs)
      },
      render: { configuration in
        let pairs = configuration[keyPath: path].keys.sorted()
        guard !pairs.isEmpty else { return "{}" }
        // A secret is never shown.
        return "{ " + pairs.map { "\(JSONTree.quoted($0)): \"(hidden)\"" }.joined(separator: ", ") + " }"
      })
  }
}

extension StringProtocol {
  /// Without spaces at either end.
  var trimmed: SubSequence {
    guard let first = firstIndex(where: { $0 != " " }), let last = lastIndex(where: { $0 != " " }) else {
      return self[startIndex..<startIndex]
    }
    return self[first...last]
  }
}
