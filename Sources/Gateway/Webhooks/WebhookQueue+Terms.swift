package import Model

extension WebhookQueue {
  package struct Limits: Sendable {
    /// Of all notices that are here; beyond, no more are read.
    package var bytes = 16 * 1_024 * 1_024
    /// Of one room's; beyond, the others stay in the store until it has none here.
    package var roomBytes = 1_024 * 1_024
    /// Notices on their way at once, each of another room.
    package var atOnce = 8
    /// From one failure of a room's notice to the next try; twice as long each time, up to the other.
    package var shortestPause = Duration.seconds(1)
    package var longestPause = Duration.seconds(300)
    /// While nothing gets through, from one room that is tried for the first time to the next.
    package var freshPause = Duration.seconds(5)
    /// A notice that is refused for what it is, for so long, is given up.
    package var refusals = Duration.seconds(3_600)

    package init() {}
  }

  /// An event, as one URL is to hear of it.
  package struct Notice: Equatable, Sendable {
    package var id: EventID
    /// Among the events of all rooms.
    package var position: UInt64
    package var body: [UInt8]

    package init(id: EventID, position: UInt64, body: [UInt8]) {
      self.id = id
      self.position = position
      self.body = body
    }
  }

  /// An event of a room.
  package struct Mark: Equatable, Sendable {
    package var number: Int
    package var position: UInt64

    package init(number: Int, position: UInt64) {
      self.number = number
      self.position = position
    }
  }

  /// Events of a room that are left in the store.
  package struct Span: Equatable, Sendable {
    package var room: String
    package var first: Mark
    package var last: Mark
  }

  package enum Action: Equatable, Sendable {
    /// Say by `answered` what became of it.
    case send(Notice)
    /// Say by `came` what the store has of it, as many of the first as there are in about so many bytes, one in any case.
    case read(Span, bytes: Int)
    /// Nothing before that moment, unless a notice or an answer comes; `.never`: nothing waits but for those.
    case wait(until: Instant)
  }

  package enum Outcome: Equatable, Sendable {
    case arrived
    /// - Parameter pause: what the receiver asks for; nil: nothing.
    case failed(pause: Duration?)
    /// The receiver is there, and doesn't take this very notice.
    case refused
  }

  package struct Counters: Equatable, Sendable {
    package var arrived: UInt64 = 0
    /// Tries that failed; each notice may have many.
    package var failed: UInt64 = 0
    /// Given up, because the receiver didn't take them for what they are.
    package var refused: UInt64 = 0
  }

  /// What will not be sent again: an event and all before it of its room.
  package struct Settled: Equatable, Sendable {
    package var id: EventID
    package var position: UInt64
    /// Where the room's next is; nil: it has none.
    package var next: UInt64?
  }
}

extension WebhookQueue.Notice {
  /// What it takes to be here, about.
  var size: Int { body.count + 128 }
}
