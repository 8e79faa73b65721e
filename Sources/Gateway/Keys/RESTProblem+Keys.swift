internal import AccessTokens
internal import CallDesk
internal import Calls
internal import KeyDirectory

extension RESTProblem {
  /// What is wrong with keys.
  init(ofKeys problem: CallProblem) {
    switch problem {
    case .keyMissing(let people):
      self.init(
        status: 422, code: "key-missing", title: "A key is missing",
        detail: "each of these people needs the call's key, wrapped for a device that has one")
      members = ["people": .array(people.map { .string($0.text) })]
    case .staleKey(let current, let index):
      self.init(
        status: 409, code: "stale-key", title: "A key was replaced",
        detail: index == nil
          ? "wrap the call's key for the current ones" : "the call has another key by now: wrap that one")
      members = ["current": .array(current.map(\.json))]
      if let index { members["index"] = .number(Double(index)) }
    case .badKey(let reason): self = .body("key: \(reason)")
    case .noSuchHead(let size):
      self.init(
        status: 409, code: "no-such-head", title: "The log of keys has no such head",
        detail: "it has \(size) leaves")
      members = ["size": .number(Double(size))]
    default: self = .notAllowed("keys are for calls that are encrypted end to end")
    }
  }
}
