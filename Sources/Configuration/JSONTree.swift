internal import FoundationEssentials

/// What JSON5 can say, before anybody asks what it means.
enum JSONTree: Equatable, Sendable, Decodable {
  case null
  case boolean(Bool)
  case integer(Int)
  case number(Double)
  case string(String)
  case array([JSONTree])
  case object([String: JSONTree])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .boolean(value)
    } else if let value = try? container.decode(Int.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONTree].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONTree].self))
    }
  }

  /// - Throws: `DecodingError` for anything that is no JSON5.
  static func parse(json5 text: String) throws -> JSONTree {
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    return try decoder.decode(JSONTree.self, from: Data(text.utf8))
  }

  /// What the decoder has to say, without its wrapping.
  static func reason(_ error: any Error) -> String {
    guard case DecodingError.dataCorrupted(let context) = error else { return "\(error)" }
    return (context.underlyingError.map { "\($0)" } ?? context.debugDescription)
  }

  /// An array of strings only.
  var strings: [String]? {
    guard case .array(let items) = self else { return nil }
    var texts: [String] = []
    for item in items {
      guard case .string(let text) = item else { return nil }
      texts.append(text)
    }
    return texts
  }

  /// An object of strings only.
  var stringPairs: [String: String]? {
    guard case .object(let members) = self else { return nil }
    var pairs: [String: String] = [:]
    for (key, value) in members {
      guard case .string(let text) = value else { return nil }
      pairs[key] = text
    }
    return pairs
  }

  /// For messages: the value as one would write it, shortened.
  var summary: String {
    switch self {
    case .null: "null"
    case .boolean(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .number(let value): "\(value)"
    case .string(let text): Self.quoted(text.count > 60 ? text.prefix(60) + "…" : text)
    case .array(let items):
      "[" + items.prefix(6).map(\.summary).joined(separator: ", ") + (items.count > 6 ? ", …]" : "]")
    case .object(let members): members.isEmpty ? "{}" : "{ … }"
    }
  }

  static func quoted(_ text: some StringProtocol) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case _ where scalar.value < 32:
        let hex = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
