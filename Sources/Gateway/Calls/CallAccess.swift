internal import AccessTokens
internal import CallDesk
internal import Calls
internal import HTTPServer

#if PLANTED_DEFECTS
  internal import Model
#endif

/// Who may ask what of calls.
enum CallAccess: Sendable {
  /// A token of a person, which names no room, or `*`: everything of that person's.
  case person
  /// That, or the token of the very call.
  case ofCall
  /// That, or one of who runs the call's room.
  case ofCallOrAdmin
  /// A person's, or one of who runs the call's room.
  case personOrAdmin
  /// Who erases people: the person itself, or who runs every room.
  case personOrAdminOfAll
}

/// Whose a request is.
struct CallPermission: Sendable {
  let caller: Caller
  let token: AccessToken
  /// It is of one who runs rooms; which, is asked at the act.
  var isAdmin: Bool { token.grants.roomAdmin }
  /// It stands for the person, whatever else it opens.
  let isPerson: Bool
  /// It is of the very call, and void where that is.
  let isOfCall: Bool

  /// Decides which person a token stands for; nothing else does.
  init(
    _ token: AccessToken, _ access: CallAccess, call: String?
  ) throws(RESTProblem) {
    self.token = token
    let isOfAll = token.grants.room == nil || token.grants.room == Grants.everyRoom
    #if PLANTED_DEFECTS
      let isAny = PlantedDefect.isOn(.callTokenOfAny) && token.call != nil && call != nil
    #else
      let isAny = false
    #endif
    isOfCall = isAny || token.call != nil && call != nil && token.call?.id == call
    isPerson = token.identity != nil && (isOfAll && token.call == nil || isOfCall)
    let isGood =
      switch access {
      case .person: isPerson && !isOfCall
      case .ofCall: isPerson
      case .ofCallOrAdmin: isPerson || token.grants.roomAdmin
      case .personOrAdmin: isPerson && !isOfCall || token.grants.roomAdmin
      case .personOrAdminOfAll:
        isPerson && !isOfCall || (token.grants.roomAdmin && token.grants.room == Grants.everyRoom)
      }
    guard isGood else { throw .notAllowed("a token of the person is needed, or one of this very call") }
    caller = Caller(token)
  }

  /// Whether it runs that room.
  func runs(_ room: String?) -> Bool {
    guard let room else { return token.grants.roomAdmin && token.grants.room == Grants.everyRoom }
    do throws(AccessTokenRefusal) {
      try token.requireAdmin(room: room)
      return true
    } catch { return false }
  }
}

extension RESTProblem {
  static func notAllowed(_ detail: String) -> RESTProblem {
    RESTProblem(status: 403, code: "not-allowed", title: "Not allowed", detail: detail)
  }

  init(_ problem: CallProblem) {
    switch problem {
    case .notFound: self.init(status: 404, code: "not-found", title: "Not found")
    case .notAllowed: self.init(status: 403, code: "not-allowed", title: "Not allowed")
    case .removed: self.init(status: 403, code: "removed", title: "You were removed from this call")
    case .idTaken: self.init(status: 409, code: "id-taken", title: "The id was given to something else")
    case .activeElsewhere:
      self.init(
        status: 409, code: "active-elsewhere", title: "You are in this call by another device",
        detail: "with takeover: true the call moves to this one")
    case .callEnded: self.init(status: 410, code: "call-ended", title: "The call is over")
    case .sessionEnded: self.init(status: 410, code: "session-ended", title: "The session is over")
    case .noRecipients:
      self.init(
        status: 422, code: "no-recipients", title: "There is no one to call",
        detail: "recipients must name somebody else than the caller")
    case .tooManyPeople(let most):
      self.init(
        status: 422, code: "too-many-people", title: "Too many people",
        detail: "a call can have at most \(most), the caller among them")
    case .tooLarge(let what): self.init(status: 413, code: "too-large", title: "Too large", detail: what)
    case .reservedType:
      self.init(
        status: 422, code: "reserved-type", title: "The type is reserved",
        detail: "types that begin with \(SystemEvent.prefix) are the server's own")
    case .compacted(let seq):
      self.init(status: 410, code: "compacted", title: "The events after that one are in the snapshot")
      members = ["snapshotSeq": .number(Double(seq))]
    case .beyondLast(let seq):
      self.init(status: 422, code: "beyond-last", title: "The snapshot is of events that haven't come")
      members = ["lastSeq": .number(Double(seq))]
    case .staleSnapshot(let seq):
      self.init(status: 409, code: "stale-snapshot", title: "A newer snapshot is kept already")
      members = ["snapshotSeq": .number(Double(seq))]
    case .keyMissing, .staleKey, .notEncrypted, .badKey, .noSuchHead: self.init(ofKeys: problem)
    case .tooMany(let wait):
      self.init(status: 429, code: "too-many", title: "Too many")
      headers = [("retry-after", String(max((wait + 999) / 1_000, 1)))]
    case .storeUnavailable:
      self.init(
        status: 503, code: "store-unavailable", title: "Nothing can be stored at the moment",
        detail: "nothing of it was done, or it is not known whether: ask again with the same id")
      headers = [("retry-after", "2")]
    }
  }
}
