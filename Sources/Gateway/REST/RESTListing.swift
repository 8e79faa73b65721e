internal import AccessTokens
internal import HTTPServer
internal import Rooms

/// How a list is searched and ordered, as a query says it: `search`, and `sort` with a minus sign for the other way round.
extension RESTPage {
  static func rooms(_ request: HTTPRequest) throws(RESTProblem) -> RoomListing {
    var listing = RoomListing()
    listing.search = try search(request)
    (listing.order, listing.isDescending) = try order(request, usual: listing.order)
    return listing
  }

  static func people(_ request: HTTPRequest) throws(RESTProblem) -> PeopleListing {
    var listing = PeopleListing()
    listing.search = try search(request)
    (listing.order, listing.isDescending) = try order(request, usual: listing.order)
    return listing
  }

  private static func search(_ request: HTTPRequest) throws(RESTProblem) -> String {
    guard let text = request.queryItem("search"), !text.isEmpty else { return "" }
    guard AccessToken.isText(text) else {
      throw .query("search must have at most 128 bytes and no control characters")
    }
    return text
  }

  private static func order<Order: RawRepresentable<String> & CaseIterable>(
    _ request: HTTPRequest, usual: Order
  ) throws(RESTProblem) -> (order: Order, isDescending: Bool) {
    guard let text = request.queryItem("sort") else { return (usual, false) }
    let isDescending = text.hasPrefix("-")
    guard let order = Order(rawValue: isDescending ? String(text.dropFirst()) : text) else {
      let words = Order.allCases.map(\.rawValue).joined(separator: ", ")
      throw .query("sort must be one of \(words), with a minus sign in front for the other way round")
    }
    return (order, isDescending)
  }

  // MARK: - Where a page begins

  /// - Parameter isByName: names alone say where it is; else `after` has a value in front.
  func place(isByName: Bool) throws(RESTProblem) -> ListPlace? {
    guard let after else { return nil }
    guard !isByName else { return ListPlace(name: after) }
    let parts = after.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let value = Int(parts[0]) else {
      throw .query("after must be the next of an earlier page of the same order")
    }
    return ListPlace(value: value, name: String(parts[1]))
  }

  /// - Parameter found: one more than the limit where there are more.
  func body<Item: Sendable, Shown: Encodable>(
    _ found: [Placed<Item>], isByName: Bool, _ show: (Item) -> Shown
  ) -> RESTList<Shown> {
    let page = found.prefix(limit)
    let last = found.count > limit ? page.last?.place : nil
    let next = last.map { Self.next(after: isByName ? $0.name : "\($0.value) \($0.name)") }
    return RESTList(items: page.map { show($0.item) }, next: next)
  }
}
