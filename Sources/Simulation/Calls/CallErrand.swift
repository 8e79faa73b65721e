internal import HTTPServer
internal import SyntheticPeers

/// Something that is asked of the doors: what, by which tokens it may be, what it is to cost, and what comes of it.
final class CallErrand {
  enum Access {
    /// A token of a person.
    case person
    /// That, or the token of the very call.
    case ofCall
    /// That, or one of who runs the call's room.
    case ofCallOrAdmin
    case personOrAdmin
    /// One of who runs the call's room alone.
    case rooms
  }

  /// What becomes of one that is sent again.
  enum Repeats {
    /// It is done once more.
    case again
    /// It is answered as it was, where that was done.
    case same
    /// It is answered by what it began.
    case begun
  }

  /// What the answer has.
  enum Shows {
    case nothing
    case call
    /// A call, with the token of who came into it.
    case entry
    /// A call, and whether it is over.
    case left
    case list
  }

  /// What it is counted as once it is done.
  let mechanism: Mechanism
  let method: HTTPMethod
  /// nil: it is of none.
  let call: String?
  /// The path; where it is of a call, behind that.
  let path: String
  var query = ""
  var body = ""
  var access = Access.person
  var price = CallPrice()
  var shows = Shows.nothing
  var repeats = Repeats.again
  /// 404 may also say that something else isn't there.
  var mayMiss = false
  /// It is for those who weren't taken out of the call.
  var isInner = false
  /// The answer is to be a stream.
  var isStream = false
  /// `Idempotency-Key`
  var key: String?
  /// By which it is said to be asked; nil: by none.
  var device: String?
  /// What the model makes of it, once it is done.
  var effect: ((CallReply) -> Void)?
  /// How it was done the first time, and in which step; nil: it hasn't been.
  var first: (reply: CallReply, step: Int)?

  init(_ mechanism: Mechanism, _ method: HTTPMethod, _ path: String, of call: String? = nil) {
    self.mechanism = mechanism
    self.method = method
    self.path = path
    self.call = call
  }

  /// - Parameter other: a call in the place of its own; the request has another key then.
  func request(_ token: String, instead other: String? = nil) -> HTTPRequest {
    var headers: HTTPHeaders = ["host": "relay.example", "authorization": "Bearer \(token)"]
    if !body.isEmpty {
      headers.add("content-type", method == .patch ? "application/merge-patch+json" : "application/json")
    }
    if isStream { headers.add("accept", "text/event-stream") }
    if let key { headers.add("idempotency-key", other == nil ? key : "other \(key)") }
    // Rooms have a door of their own.
    let place = access == .rooms ? nil : other ?? call
    return HTTPRequest(
      method: method, path: place.map { "/v1/calls/\($0)\(path)" } ?? path, query: query, headers: headers,
      body: Array(body.utf8))
  }
}

/// By whose token something is asked.
struct CallBearer {
  enum Kind: Equatable {
    case person
    /// The person's, for some room.
    case room
    /// The person's, of that call.
    case call(String)
    /// Of one who runs another room; of one who runs this call's.
    case otherAdmin
    case admin
  }

  var kind: Kind
  var token: String
  /// `sub`
  var identity: String
  /// From when on it holds no longer, in seconds since 1970.
  var validUntil: Int
  /// Which the token names.
  var device: String?
}

/// What was answered.
struct CallReply {
  let response: HTTPResponse

  var status: Int { response.status }
  var body: [UInt8] { response.body }
  var isDone: Bool { (200..<300).contains(status) }
}
