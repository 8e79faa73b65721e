internal import AccessTokens
internal import HTTPClient

/// One request to the server.
struct Ask: Equatable {
  /// What a token must allow.
  enum Right: Equatable {
    case list
    case create
    case administer(String)
  }

  struct QueryItem: Equatable {
    var name: String
    var value: String
  }

  var method = HTTPClientRequest.Method.get
  /// The segments of its path behind `/v1`.
  var path: [String]
  var query: [QueryItem] = []
  var body: StrictJSON?
  var right: Right
  /// Whether events are wanted as they happen.
  var isStream = false
  var lastEventID = ""

  init(_ path: [String], right: Right) { self.init(.get, path, right: right) }

  init(_ method: HTTPClientRequest.Method, _ path: [String], right: Right, body: StrictJSON? = nil) {
    self.method = method
    self.path = path
    self.right = right
    self.body = body
  }

  /// Adds an item to the query where there is a value.
  func with(_ name: String, _ value: String?) -> Ask {
    var ask = self
    if let value { ask.query.append(QueryItem(name: name, value: value)) }
    return ask
  }
}
