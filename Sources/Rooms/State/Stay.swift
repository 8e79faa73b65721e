internal import Model

/// By which stay a participant is in the room, as those who oversee it have named it: what they say of another stay isn't about it.
///
/// A participant is in before its stay is known, since it may be a new one that begins by its coming. What is over meanwhile is kept
/// until then.
struct Stay: Equatable, Sendable {
  struct Ended: Equatable, Sendable {
    let id: String
    let reason: LeaveReason
  }

  /// Stays of one identity that may end while one of its participants is let in. Beyond, the first is forgotten.
  static let mostEnded = 8

  /// nil: it isn't known yet, or the participant isn't overseen.
  private(set) var id: String?
  private(set) var ended: [Ended] = []

  /// It is this one.
  /// - Returns: why it is over already; nil: it goes on.
  mutating func begin(_ stay: String) -> LeaveReason? {
    id = stay
    let end = ended.last { $0.id == stay }
    ended = []
    return end?.reason
  }

  /// A stay is over.
  /// - Returns: whether it is this one.
  mutating func end(_ stay: String, _ reason: LeaveReason) -> Bool {
    guard id != stay else { return true }
    if ended.count >= Self.mostEnded { ended.removeFirst() }
    ended.append(Ended(id: stay, reason: reason))
    return false
  }
}

extension Stay {
  func encode(into writer: inout StateWriter) {
    writer.write(optional: id)
    writer.write(UInt32(ended.count))
    for end in ended {
      writer.write(end.id)
      writer.write(end.reason.rawValue)
    }
  }

  init(from reader: inout StateReader) throws(StateError) {
    id = try reader.optionalString(limit: stateTextLimit)
    for _ in 0..<(try reader.count(limit: Self.mostEnded)) {
      ended.append(Ended(id: try reader.string(limit: stateTextLimit), reason: try reader.named("reason")))
    }
  }
}

/// How a participant comes in: with a session of its own, or with a transport that has no socket.
enum Arrival: Sendable {
  case session(UInt32)
  case standalone(String)

  func isOf(_ transport: Transport) -> Bool {
    guard case .standalone(let id) = self else { return false }
    return transport.standalone?.id == id
  }
}
