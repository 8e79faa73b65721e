internal import AccessTokens
internal import HTTPServer

/// One page of a list in the order of names.
struct RESTPage {
  static let defaultLimit = 100
  static let maximumLimit = 1_000

  /// The last name of the page before.
  let after: String?
  let limit: Int

  /// - Parameters:
  ///   - usual: the limit where nothing is said.
  ///   - most: that it may be.
  init(
    _ request: HTTPRequest, usual: Int = defaultLimit, most: Int = maximumLimit
  ) throws(RESTProblem) {
    limit = try Self.limit(of: request, usual: usual, most: most)
    if let text = request.queryItem("after") {
      guard let bytes = Base64URL.decode(text.utf8), let name = String(validating: bytes, as: UTF8.self)
      else {
        throw .query("after must be the next of an earlier page")
      }
      after = name
    } else {
      after = nil
    }
  }

  static func limit(
    of request: HTTPRequest, usual: Int = defaultLimit, most: Int = maximumLimit
  ) throws(RESTProblem) -> Int {
    guard let text = request.queryItem("limit") else { return usual }
    guard let limit = Int(text), (1...most).contains(limit) else {
      throw .query("limit must be a whole number from 1 to \(most)")
    }
    return limit
  }

  /// - Parameter found: one more than the limit where there are more.
  func body<Item: Encodable>(_ found: [Item], name: (Item) -> String) -> RESTList<Item> {
    let items = Array(found.prefix(limit))
    let next = found.count > limit ? items.last.map { Self.next(after: name($0)) } : nil
    return RESTList(items: items, next: next)
  }

  /// What `after` is for the page behind that name.
  static func next(after name: String) -> String { Base64URL.encode(Array(name.utf8)) }
}

struct RESTList<Item: Encodable>: Encodable {
  let items: [Item]
  /// For `after`; nil: there is no more.
  let next: String?
}
