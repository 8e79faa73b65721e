internal import CallDesk
internal import Calls
internal import Model
internal import Rooms
internal import Signalling
internal import Synchronization

/// What one session at the native door hears of the shared sessions of its person, in order.
final class SessionLine: Sendable {
  /// So many events waiting for a front door end its session, as notices of the room do: it would live in a wrong picture.
  static let limit = 1_024

  let person: PersonID
  let room: String
  let events: AsyncStream<SessionText>
  private let continuation: AsyncStream<SessionText>.Continuation
  private let overflow = Atomic(false)

  /// Too many waited, and nothing comes any more.
  var hasOverflowed: Bool { overflow.load(ordering: .acquiring) }

  init(_ person: PersonID, in room: String) {
    self.person = person
    self.room = room
    (events, continuation) = AsyncStream.makeStream(
      of: SessionText.self, bufferingPolicy: .bufferingOldest(Self.limit))
  }

  func put(_ event: SessionText) {
    guard case .dropped = continuation.yield(event) else { return }
    overflow.store(true, ordering: .releasing)
    continuation.finish()
  }

  func finish() { continuation.finish() }
}

/// An event as it goes out on the wire, encoded once for all who get it.
final class SessionText: Sendable {
  private let shared: Aftermath.Shared
  private let made = SharedText()

  init(_ shared: Aftermath.Shared) { self.shared = shared }

  var text: String {
    made.text {
      ServerMessage(
        .sessionEvent(.init(sid: shared.session.text, event: SharedEventBody(shared.event)))
      ).json
    }
  }
}
