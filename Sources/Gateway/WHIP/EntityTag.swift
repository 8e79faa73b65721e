internal import HTTPServer
internal import Rooms

/// Strong entity tags (RFC 9110 §8.8.3) and what `If-Match` says of them (§13.1.1).
enum EntityTag {
  /// Tags of one request that are looked at; a client has one.
  static let most = 16

  static func text(_ tag: String) -> String { "\"\(tag)\"" }

  /// Weak tags match nothing, as `If-Match` compares strongly, and neither does what is no tag. Some clients write the asterisk
  /// in quotes; no tag of ours is one.
  static func precondition(_ headers: HTTPHeaders) -> StandalonePrecondition {
    let fields = headers.all("if-match")
    guard !fields.isEmpty else { return .none }
    let items = fields.flatMap { field in
      field.split(separator: ",").map { item in item.filter { $0 != " " && $0 != "\t" } }
    }
    if items == ["*"] || items == ["\"*\""] { return .any }
    let tags = items.prefix(most).compactMap { item -> String? in
      guard item.utf8.count > 2, item.hasPrefix("\""), item.hasSuffix("\"") else { return nil }
      return String(item.dropFirst().dropLast())
    }
    return .tags(tags)
  }
}
