internal import AccessTokens
internal import Client
internal import HTTPClient
internal import Recording
internal import Signalling
internal import WebSocketClient

extension OperatorError {
  /// - Parameters:
  ///   - file: that is published.
  ///   - url: of the server.
  init(_ error: ClientError, file: String, url: String) {
    switch error {
    case .unreachable(let error): self.init(error, url: url)
    case .refused(let code, let message): self = .problem(ServerProblem(code, message))
    case .notRoost: self = .notRoost(status: 101, type: nil)
    case .noMedia(let seconds): self = .session(.noMedia(seconds: seconds))
    case .connectionLost(let text): self = .session(.connectionLost(text))
    case .declined(let codec, let word): self = .session(.declined(codec: codec, word: word))
    case .maySubscribeToNothing: self = .session(.maySubscribeToNothing)
    case .file(let error): self = .session(.file(file, error))
    case .folder(let folder, let problem): self = .session(.notWritten(folder, problem.text))
    case .system(let text): self = .session(.system(text))
    }
  }

  private init(_ error: WebSocketClientError, url: String) {
    switch error {
    case .refused(let status, let body):
      guard let json = StrictJSON.parse(Array(body.utf8), maximumMembers: 64), json.object != nil else {
        self = .notRoost(status: status, type: nil)
        return
      }
      self = .problem(ServerProblem(status: status, json: json, retryAfter: nil))
    case .connection(let text): self = .unreachable(.connection(text), url: url)
    case .certificate(let text): self = .unreachable(.certificate(text), url: url)
    case .authorities(let text): self = .unreachable(.authorities(text), url: url)
    case .handshake: self = .notRoost(status: 200, type: nil)
    case .timeout: self = .unreachable(.timeout, url: url)
    case .request(let text): self = .unreachable(.request(text), url: url)
    }
  }
}

extension ServerProblem {
  /// What the native protocol says, as REST would.
  fileprivate init(_ code: SignallingErrorCode, _ message: String) {
    let status =
      switch code {
      case .authRequired, .tokenMalformed, .tokenAbsent, .tokenTooLong, .tokenSignature, .tokenAlgorithm,
        .tokenExpired, .tokenNotYetValid, .tokenUnknownKey:
        401
      case .tokenNotForThis, .tokenRemoved, .tokenRevoked, .notAllowed, .roomLocked, .admissionRequired,
        .notAdmitted:
        403
      case .roomNotFound: 404
      case .roomFull, .unavailable, .limit: 503
      case .rateLimited: 429
      default: 400
      }
    self.init(
      status: status,
      json: .object([
        "type": .string("urn:roost:problem:" + code.rawValue), "title": .string(message),
        "status": .number(Double(status)),
      ]), retryAfter: nil)
  }
}
