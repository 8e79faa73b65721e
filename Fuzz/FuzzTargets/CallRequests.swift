import AccessTokens
import CallDesk
import Calls
import HTTPServer
import Signalling

/// Requests to the doors of calls as text, one behind the other with a zero byte between: each is refused or answered by what any
/// client can read, and what people hear of it has no gap.
///
/// `Bearer ada`, `bob` and `eve` are tokens of people, `Bearer $` of one who may do everything, and `Bearer call` is the last that an
/// answer has given.
func fuzzCallRequest(_ input: UnsafeRawBufferPointer) {
  guard let house = RequestHouse.shared else { return }
  let requests = Array(input).split(separator: 0, maxSplits: 12, omittingEmptySubsequences: true)
  let people = Dictionary(uniqueKeysWithValues: CallScene.people.map { ($0, CallScene.token($0)) })
  InlineExecutor.run {
    guard let scene = await CallScene.open() else { return }
    var tokens = people
    for request in requests {
      guard let answer = await house.ask(Array(request), scene.gateway, tokens) else { continue }
      if case .object(let members)? = StrictJSON.parse(answer.body, maximumMembers: answer.body.count + 1),
        case .string(let token)? = members["token"]
      {
        tokens["call"] = token
      }
    }
    await look(at: scene)
    await scene.close()
  }
}

/// What holds of calls whatever was asked.
private func look(at scene: CallScene) async {
  for name in CallScene.people {
    let person = PersonID(name)
    guard let events = try? await scene.desk.events(of: person, after: 0, limit: 200).events,
      let history = try? await scene.desk.calls(of: person, limit: 200).calls
    else { return check(false, "what was asked leaves the store readable") }
    check(
      events.map(\.number) == (0..<events.count).map { Int64($0) + 1 }, "what a person hears has no gap")
    for call in history.map(\.state) {
      check(call.isOpen(to: person), "a history has one's own calls")
      let parts = [call.invited, call.active, call.people.filter { $0.leaveReason != nil }.map(\.id)]
      check(
        parts.joined().count == call.people.count && Set(parts.joined()).count == call.people.count,
        "everyone is in exactly one place")
      check(!call.isEnded || call.invited.isEmpty && call.active.isEmpty, "no one is in what is over")
    }
  }
}

/// JSON of an app's: refused, or taken again as it is, no deeper than it may be; and the one member of a body that it may be.
func fuzzOpaqueJSON(_ input: UnsafeRawBufferPointer) {
  let bytes = Array(input)
  if let value = OpaqueJSON(bytes) {
    check(OpaqueJSON(value.bytes) == value, "what is taken once is taken again")
    check(value.bytes.count <= bytes.count, "nothing is added")
    check(depth(of: value.bytes) <= OpaqueJSON.maximumDepth, "it is no deeper than it may be")
    let around = Array(#"{"data":"#.utf8) + value.bytes + Array("}".utf8)
    check(
      OpaqueJSON.take("data", from: around)?.value == value.bytes, "and is found in what it is put into")
  }
  guard let (rest, found) = OpaqueJSON.take("data", from: bytes) else { return }
  guard let value = found else { return check(rest == bytes, "where there is none all stays") }
  check(rest.count + value.count == bytes.count + 4, "null stands in its place")
  guard let (again, null) = OpaqueJSON.take("data", from: rest) else {
    return check(false, "what is left is an object")
  }
  check(null == Array("null".utf8) && again == rest, "with nothing in that place")
}

/// How many objects and arrays are within each other, at most, in sound JSON.
private func depth(of bytes: [UInt8]) -> Int {
  var (depth, most, isText, isEscaped) = (0, 0, false, false)
  for byte in bytes {
    if isText {
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isText = false
      }
      continue
    }
    switch byte {
    case UInt8(ascii: "\""): isText = true
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      depth += 1
      most = max(most, depth)
    case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
    default: break
    }
  }
  return most
}
