internal import AccessTokens
internal import HTTPClient

/// What to do about an error, which depends on what was asked and with what.
struct Advice {
  /// Whether tokens are made here, of a key.
  var signs: Bool
  var room: String?
  var identity: String?

  /// - Returns: nil where there is nothing to say that the error doesn't.
  func advice(_ error: OperatorError) -> String? {
    switch error {
    case .unreachable(let error, _): return advice(error)
    case .notRoost: return "Is --url (or ROOST_URL) the address of the server, with nothing behind the port?"
    case .problem(let problem): return advice(problem)
    case .streamEnded(let end):
      return end.reason == "eventsGone" ? begin(at: end.json) : advice(code: "token-expired")
    case .noTrack:
      return
        "`roost participants show \(roomWord) \(identity.map(Self.quoted) ?? "IDENTITY")` lists its tracks."
    case .address: return nil
    case .session(let error): return error.advice
    }
  }

  private func advice(_ error: HTTPClientError) -> String? {
    switch error {
    case .certificate:
      "Give the authority's certificate by --ca FILE, or believe any certificate by --insecure."
    case .authorities: "Is --ca (or ROOST_CA) a PEM file that can be read?"
    case .connection, .timeout: "Does the server run, and is --url (or ROOST_URL) its address?"
    case .tooLarge, .request, .stopped: nil
    }
  }

  private func advice(_ problem: ServerProblem) -> String? {
    if problem.status == 429 || problem.status == 503 {
      return problem.retryAfter.map { "Try again in \($0) s." } ?? "Try again."
    }
    return problem.code == "events-gone" ? begin(at: problem.json) : advice(code: problem.code)
  }

  private func advice(code: String) -> String? {
    switch code {
    case "token-expired":
      return signs
        ? "Is the clock of this machine right?" : "Make another by `roost token` and put it into ROOST_TOKEN."
    case "token-not-yet-valid": return "Are the clocks of this machine and the server right?"
    case "token-signature", "token-unknown-key":
      return signs
        ? "The server has another key or secret: see --config, ROOST_KEYS, --key and --dev."
        : "The server has another key or secret than the one that the token was made with."
    case "token-absent", "token-malformed", "token-algorithm", "token-too-long":
      return "`roost token` makes tokens."
    case "token-not-for-this":
      return
        "`roost token --list --create --admin --room '*'` makes a token for everything that can be asked."
    case "token-removed": return "Make another token, or have another identity in it."
    case "not-allowed":
      return signs
        ? "May the room be joined so, and may this be published there?"
        : "`roost token --room \(roomWord) --identity NAME` makes one that may join, publish and subscribe."
    case "room-not-found": return "`roost rooms` lists those that there are."
    case "participant-not-found": return "`roost participants \(roomWord)` lists those who are in."
    case "track-not-found":
      return
        "`roost participants show \(roomWord) \(identity.map(Self.quoted) ?? "IDENTITY")` lists its tracks."
    case "not-found", "method":
      return
        "The server doesn't know this request: is it of an older version, or --url one with a path too many?"
    default: return nil
    }
  }

  /// Where events can be read that are still kept.
  private func begin(at json: StrictJSON) -> String? {
    guard let oldest = json["oldest"] else { return nil }
    if let number = oldest.integer {
      let life = json["roomId"]?.string.map { " --room-id \($0)" } ?? ""
      return "Begin with the oldest that is kept: --after \(max(0, number - 1))\(life)"
    }
    return oldest.string.map { "Begin with the oldest that is kept: --after \(Self.quoted($0))" }
  }

  private var roomWord: String { room.map(Self.quoted) ?? "ROOM" }

  /// As a shell takes it.
  private static func quoted(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
        || "-_.:@".utf8.contains($0)
    }
    guard !isPlain || text.isEmpty else { return text }
    return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#)
      + "'"
  }
}
