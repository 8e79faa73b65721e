import AccessTokens
import Gateway
import Model
import Rooms
import Wire

/// Every value has one spelling.
func fuzzBase64URL(_ input: UnsafeRawBufferPointer) {
  let bytes = Array(input)
  let text = Base64URL.encode(bytes)
  check(Base64URL.decode(text.utf8) == bytes, "what is written is read")
  if let decoded = Base64URL.decode(bytes) {
    check(Array(Base64URL.encode(decoded).utf8) == bytes, "what is read is written alike")
  }
}

/// What is read as JSON and written is read as the same.
func fuzzStrictJSON(_ input: UnsafeRawBufferPointer) {
  guard let value = StrictJSON.parse(Array(input)) else { return }
  let text = value.text
  check(text.utf8.allSatisfy { $0 >= 32 }, "what is written has no line")
  guard let again = StrictJSON.parse(Array(text.utf8)) else { return check(false, "what is written is read") }
  check(again == value && again.text == text, "and is the same")
}

/// A candidate as signalling carries it: what is read and written is read as the same, and of its use one thing is said.
func fuzzCandidate(_ input: UnsafeRawBufferPointer) {
  guard let text = String(validating: input, as: UTF8.self),
    let candidate = CandidateAttribute(parsing: text)
  else { return }
  check((1...256).contains(candidate.component), "a component has a number")
  if candidate.value.utf8.count <= 1_024 {
    check(CandidateAttribute(parsing: candidate.value) == candidate, "what is written is read as it was")
  }
  if case .udp(let address) = candidate.use {
    check(
      candidate.transport == "udp" && address.port == candidate.port && address.port != 0, "it can be used")
  }
}

/// Cursors of any kind are refused, or go on from a place that there is.
func fuzzEventCursor(_ input: UnsafeRawBufferPointer) {
  let log = EventLog { Instant(nanoseconds: 0) }
  let text = String(decoding: input, as: UTF8.self)
  do throws(EventLogError) {
    let page = try log.events(after: text)
    check(page.events.isEmpty && page.isLast, "nothing follows where nothing happened")
    check(page.cursor == text, "who goes on is where they were")
  } catch {
    if case .cursorGone(let oldest) = error {
      check((try? log.events(after: oldest).isLast) == true, "the oldest can be gone on from")
    } else {
      check(error == .notACursor, "a cursor is none, or has gone")
    }
  }
}

/// The name of a room's event is none, or the same again once it is written.
func fuzzEventID(_ input: UnsafeRawBufferPointer) {
  guard let id = EventID(String(decoding: input, as: UTF8.self)) else { return }
  check(id.number >= 0 && id.roomId.hasPrefix("RM_"), "it has a room and a number")
  check(id.text.utf8.allSatisfy { $0 > 32 && $0 < 127 }, "no field can start behind it")
  check(EventID(id.text) == id, "what is written is read as it was")
}
