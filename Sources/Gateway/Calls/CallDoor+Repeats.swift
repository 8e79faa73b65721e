internal import CallDesk
internal import Calls
internal import Crypto
internal import HTTPServer

/// What a repeated request does.
enum CallRepeats: Sendable {
  /// The first answer is given once more: it was written down with what was done.
  case answer
  /// The first answer is given once more. The request has an id of its own, by which it does nothing the second time, so that the answer
  /// is written down behind what was done.
  case known
  /// It is asked once more, and by its own id the desk answers by what was begun then, which changes nothing: the answer has a token and a
  /// key, which aren't kept.
  case deed
  /// The same of what has no id of its own: what was begun is written down under the key.
  case begun
}

/// The key that a client has given a request, for when it sends it again.
struct RequestKey: Sendable {
  let text: String
  /// Of the path and the body, 32 bytes.
  let content: [UInt8]
}

/// Requests that are sent again under an `Idempotency-Key`: the first answer is given once more.
///
/// Of those that come at once under the same key one is done, and the others wait for its answer. What is kept is a status and the body
/// behind it.
extension CallDoor {
  private static let mostKeyBytes = 128
  /// Longer answers aren't kept.
  private static let mostKept = 65_536

  /// - Parameter body: what the request is answered by where it is the first.
  func once(
    _ call: CallRequest, _ repeats: CallRepeats,
    _ body: (CallRequest) async throws(RESTProblem) -> HTTPResponse
  ) async throws(RESTProblem) -> HTTPResponse {
    let request = call.request
    guard request.method == .post, let text = request.headers["idempotency-key"] else {
      return try await body(call)
    }
    guard (1...Self.mostKeyBytes).contains(text.utf8.count) else {
      throw RESTProblem(
        status: 400, code: "idempotency-key", title: "The Idempotency-Key must have 1 to 128 bytes")
    }
    let person = call.permission.caller.person
    let key = RequestKey(
      text: text, content: SHA256.digest(Array("\(request.path)\n".utf8) + request.body))
    let place = KeyedTurns.Place(text, of: person)
    await turns.take(place)
    defer { turns.giveBack(place) }
    var keyed = call
    if repeats == .answer || repeats == .begun { keyed.key = key }
    // The desk looks by itself.
    if repeats == .begun { return try await body(keyed) }
    let known = try await ask { () async throws(CallProblem) in
      try await desk.answer(to: text, content: key.content, by: person)
    }
    if repeats != .deed, let known, let status = known.first {
      return response(status: 200 + Int(status), Array(known.dropFirst()))
    }
    let answer = try await body(keyed)
    guard repeats != .answer, let kept = Self.kept(answer, withBody: repeats == .known) else { return answer }
    // It was done in any case.
    try? await desk.keep(kept, to: text, content: key.content, by: person)
    return answer
  }

  /// How the desk writes an answer down with what it does.
  /// - Parameter answer: as it goes to the client.
  /// - Returns: nil: the request has no key.
  func keyed<Value: Sendable>(
    _ call: CallRequest, _ answer: @escaping @Sendable (Value) -> HTTPResponse
  ) -> KeyedRequest<Value>? {
    call.key.map { key in
      KeyedRequest(key.text, content: key.content, by: call.permission.caller.person) { value in
        Self.kept(answer(value), withBody: true)
      }
    }
  }

  /// - Returns: nil: nothing of it is kept.
  private static func kept(_ answer: HTTPResponse, withBody: Bool) -> [UInt8]? {
    guard (200..<300).contains(answer.status), answer.stream == nil, answer.body.count <= mostKept else {
      return nil
    }
    return [UInt8(answer.status - 200)] + (withBody ? answer.body : [])
  }

  private func response(status: Int, _ body: [UInt8]) -> HTTPResponse {
    guard !body.isEmpty else { return HTTPResponse(status: status) }
    var response = HTTPResponse(status: status, type: "application/json", body: body)
    response.headers.add("cache-control", "no-store")
    return response
  }
}
