internal import AccessTokens
internal import HTTPClient

/// What the server answered.
struct OperatorAnswer {
  var status: Int
  /// nil: there is none, as with 204.
  var json: StrictJSON?

  init(status: Int, json: StrictJSON?) {
    self.status = status
    self.json = json
  }

  /// - Throws: the problem that it is, or that it is none of Roost's.
  init(_ answer: HTTPAnswer) throws(OperatorError) {
    status = answer.head.status
    if status == 204 { return }
    let type = answer.head.type
    guard type == "application/json" || type == "application/problem+json",
      // Of one server: as many members as there are.
      let json = StrictJSON.parse(answer.body, maximumMembers: max(1, answer.body.count))
    else { throw .notRoost(status: status, type: type) }
    guard (200..<300).contains(status) else {
      throw .problem(ServerProblem(status: status, json: json, retryAfter: answer.head["retry-after"]))
    }
    self.json = json
  }
}
