internal import CallDesk
internal import Calls
internal import Crypto
internal import HTTPServer

/// What a repeated request does.
enum CallRepeats: Sendable {
  /// The first answer is given once more.
  case answer
  /// It is done again, which changes nothing: its answer has a token and a key, which aren't kept.
  case deed
}

/// Requests that are sent again under an `Idempotency-Key`: the first answer is given once more.
///
/// What is kept is the answer, beside what was done, and in a transaction of its own: a server that ends between the two does it again,
/// which calls take as what it is, a second request of the same person in another state.
extension CallDoor {
  private static let mostKeyBytes = 128
  /// Longer answers aren't kept.
  private static let mostKept = 65_536

  /// - Parameter body: what the request is answered by where it is the first.
  func once(
    _ call: CallRequest, _ repeats: CallRepeats, _ body: () async throws(RESTProblem) -> HTTPResponse
  ) async throws(RESTProblem) -> HTTPResponse {
    let request = call.request
    guard request.method == .post, let key = request.headers["idempotency-key"] else {
      return try await body()
    }
    guard (1...Self.mostKeyBytes).contains(key.utf8.count) else {
      throw RESTProblem(
        status: 400, code: "idempotency-key", title: "The Idempotency-Key must have 1 to 128 bytes")
    }
    let person = call.permission.caller.person
    let content = SHA256.digest(Array("\(request.path)\n".utf8) + request.body)
    let known = try await ask { () async throws(CallProblem) in
      try await desk.answer(to: key, content: content, by: person)
    }
    if let known, let status = known.first, repeats == .answer {
      return response(status: 200 + Int(status), Array(known.dropFirst()))
    }
    let answer = try await body()
    guard (200..<300).contains(answer.status), answer.stream == nil, answer.body.count <= Self.mostKept else {
      return answer
    }
    // What is kept is a status and the body behind it.
    let bytes = [UInt8(answer.status - 200)] + (repeats == .answer ? answer.body : [])
    // It was done in any case.
    try? await desk.keep(bytes, to: key, content: content, by: person)
    return answer
  }

  private func response(status: Int, _ body: [UInt8]) -> HTTPResponse {
    guard !body.isEmpty else { return HTTPResponse(status: status) }
    var response = HTTPResponse(status: status, type: "application/json", body: body)
    response.headers.add("cache-control", "no-store")
    return response
  }
}
