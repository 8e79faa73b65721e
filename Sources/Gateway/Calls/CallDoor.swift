internal import AccessTokens
internal import CallDesk
internal import Calls
internal import FoundationEssentials
internal import HTTPServer
internal import Model
internal import Signalling

/// The door for apps that call: a thin translation of REST to what the desk of calls decides.
struct CallDoor: Sendable {
  let desk: CallDesk
  let rooms: CallRooms
  let crossOrigin: CrossOrigin
  let tokens: CallTokens
  let iceServers: @Sendable (String) -> [ICEServerBody]
  /// Reads a token and says whether it is good.
  let verify: @Sendable (String?) throws(AccessTokenRefusal) -> AccessToken
  /// Charges a person for so many bytes and returns zero, or says how long it takes until it has enough.
  let charge: @Sendable (_ bytes: Int, _ person: String) -> Duration
  /// Charges a person for what is done already, whether it has as much or not.
  let owe: @Sendable (_ bytes: Int, _ person: String) -> Void
  /// What people's events cost, apart from what people ask.
  let readings: ReadingBudgets
  /// Where the server is reached; nil: as the request says.
  let publicURL: String?
  /// Who is asked who may call whom; nil: everyone may.
  let authorizer: CallAuthorizer?
  /// People with a token of their own see who else there is.
  let isDirectoryOpen: Bool
  /// Milliseconds since 1970.
  let wallMilliseconds: @Sendable () -> Int64
  /// Requests under keys of their clients.
  let turns = KeyedTurns()

  var feeds: CallFeeds { rooms.feeds }

  /// Beside its bytes, in units of `IntakeBudget`: a transaction of the store, and what follows from it.
  static let price = 4_096
  /// For each entry of a list that may have to be read; of one whose entries are short.
  static let pricePerItem = 1_024
  static let pricePerShortItem = 128
  /// For each person that is looked through.
  static let pricePerReader = 8
  /// What is known only with an answer is charged up to that much: half of what a person may save up, so that the debt is soon paid.
  static let mostBehindAnswer = 1_048_576
  /// The same of a page of events: what comes in a second, so that the next page is waited for no longer.
  static let mostBehindPage = 524_288

  /// - Returns: nil for what isn't this door's.
  func response(to request: HTTPRequest) async -> HTTPResponse? {
    guard let segments = request.segments else { return nil }
    var matching = CallOperation.all.compactMap { operation in
      operation.match(segments).map { (operation, $0) }
    }
    // What is named beats what stands for an id, for those methods that it has.
    let named = matching.filter { $0.1.isEmpty }.map(\.0.method)
    matching.removeAll { !$0.1.isEmpty && named.contains($0.0.method) }
    guard !matching.isEmpty else { return nil }
    let methods = matching.map(\.0.method)
    let allowed =
      (methods.contains(.get) ? ["GET", "HEAD"] : []) + methods.filter { $0 != .get }.map(\.rawValue) + [
        "OPTIONS"
      ]
    let list = allowed.joined(separator: ", ")
    if request.method == .options { return crossOrigin.preflight(request, allowed: list) }
    let method = request.method == .head ? .get : request.method
    var response: HTTPResponse
    if let (operation, parameters) = matching.first(where: { $0.0.method == method }) {
      do throws(RESTProblem) {
        response = try await perform(operation, request, parameters)
      } catch { response = error.response }
    } else {
      response = Problem.method(allowed: list)
    }
    crossOrigin.allow(request, on: &response)
    return response
  }

  private func perform(
    _ operation: CallOperation, _ request: HTTPRequest, _ parameters: [String: String]
  ) async throws(RESTProblem) -> HTTPResponse {
    let token: AccessToken
    do throws(AccessTokenRefusal) {
      if request.bearerToken == nil, request.headers["authorization"] != nil {
        throw .malformed(reason: "The Authorization header has no Bearer token")
      }
      token = try verify(request.bearerToken)
    } catch { throw RESTProblem(error) }
    let id = parameters["call"].flatMap { CallUUID($0) }
    // What is refused costs as much.
    try requirePaid(charge(Self.price + request.body.count, token.identity ?? ""))
    let permission = try CallPermission(token, operation.access, call: id?.text)
    // What is no id is one that was never given out.
    if parameters["call"] != nil, id == nil { throw RESTProblem(CallProblem.notFound) }
    // A token of a call is void with the person's removal, and with the call's end.
    if permission.isOfCall, let id {
      try await ask { () async throws(CallProblem) in
        try await desk.requireOpen(id, to: permission.caller.person)
      }
    }
    let call = CallRequest(request: request, parameters: parameters, permission: permission)
    return try await once(call, operation.repeats) { call async throws(RESTProblem) in
      try await operation.perform(self)(call)
    }
  }

  // MARK: - What the operations share

  /// Charges the caller for what its request turns out to cost.
  /// - Parameter units: in those of `IntakeBudget`.
  func pay(_ units: Int, _ call: CallRequest) throws(RESTProblem) {
    try requirePaid(charge(units, call.permission.caller.person.text))
  }

  /// - Parameter wait: how long it takes until there is enough; zero: it is paid.
  func requirePaid(_ wait: Duration) throws(RESTProblem) {
    if wait > .zero { throw RESTProblem(CallProblem.tooMany(wait: wait.components.seconds * 1_000 + 1_000)) }
  }

  /// An answer whose size is known only now: each byte of it that wasn't paid for before costs like one that comes in. The work is done,
  /// so that it is given in any case, and what the person hasn't got is owed: nothing more is done for it until that has come.
  /// - Parameter units: what was paid before the work.
  func paid(_ response: HTTPResponse, beyond units: Int, _ call: CallRequest) -> HTTPResponse {
    let rest = min(response.body.count - units, Self.mostBehindAnswer)
    if rest > 0 { owe(rest, call.permission.caller.person.text) }
    return response
  }

  func ask<Answer>(
    _ question: () async throws(CallProblem) -> Answer
  ) async throws(RESTProblem) -> Answer {
    do throws(CallProblem) { return try await question() } catch { throw RESTProblem(error) }
  }

  func answer(_ value: some Encodable, status: Int = 200) -> HTTPResponse {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let body = try? encoder.encode(value) else {
      preconditionFailure("texts, flags and finite numbers are always JSON")
    }
    var response = HTTPResponse(status: status, type: "application/json", body: body)
    response.headers.add("cache-control", "no-store")
    return response
  }

  /// - Throws: while the server is about to stop: calls are begun on another.
  func requireOpen() throws(RESTProblem) {
    guard rooms.isDraining else { return }
    var problem = RESTProblem(
      status: 503, code: "draining", title: "The server is shutting down and accepts no one new")
    problem.headers = [("retry-after", "5")]
    throw problem
  }

  /// - Throws: where the app's own server says no, or nothing.
  func requireAllowed(_ caller: PersonID, _ recipients: [PersonID], in call: CallUUID)
    async throws(RESTProblem)
  {
    guard let authorizer, await !authorizer.allows(caller, recipients, in: call) else { return }
    throw .notAllowed("the app doesn't allow this call")
  }

  func call(_ request: CallRequest) throws(RESTProblem) -> CallUUID {
    guard let id = request.parameters["call"].flatMap({ CallUUID($0) }) else {
      throw RESTProblem(CallProblem.notFound)
    }
    return id
  }

  /// Where clients of a room connect.
  func url(_ request: HTTPRequest) -> String {
    publicURL ?? "http://\(request.headers["host"] ?? "localhost")"
  }
}
