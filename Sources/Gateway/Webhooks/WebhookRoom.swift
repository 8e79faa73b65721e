internal import Model

/// What waits of one room for one URL: its next notices, and behind them what is left in the store.
struct WebhookRoom: Sendable {
  enum Turn: Sendable {
    case ready
    case paused
    /// Its first notice is on its way.
    case sending
    /// What is left of it is read.
    case reading
  }

  /// Events of it that are in the store and not here.
  struct Left: Sendable {
    var first: WebhookQueue.Mark
    var last: WebhookQueue.Mark
  }

  /// What it takes beside its notices, about.
  static let bytes = 256

  var turn = Turn.ready
  /// The last event of it that is known.
  private(set) var last: WebhookQueue.Mark
  private(set) var left: Left?
  private(set) var bytes = 0
  /// One after the other.
  private(set) var failures = 0
  /// Since when its first notice is refused for what it is, and for nothing else.
  private(set) var refusedSince: Instant?
  private var notices: [WebhookQueue.Notice] = []
  /// How many at the front are used up; they go in one move, not one by one.
  private var used = 0
  /// Up to where the span goes that is read.
  private var asked: WebhookQueue.Mark?

  init(last: WebhookQueue.Mark) { self.last = last }

  var head: WebhookQueue.Notice? { used < notices.count ? notices[used] : nil }
  /// Its next event, here or in the store; nil: it has none.
  var next: WebhookQueue.Mark? {
    used < notices.count ? Self.mark(notices[used]) : left?.first
  }
  var count: Int {
    notices.count - used + (left.map { max(0, $0.last.number - $0.first.number) + 1 } ?? 0)
  }

  private static func mark(_ notice: WebhookQueue.Notice) -> WebhookQueue.Mark {
    WebhookQueue.Mark(number: notice.id.number, position: notice.position)
  }

  mutating func append(_ notice: WebhookQueue.Notice) {
    notices.append(notice)
    bytes += notice.size
  }

  /// Numbers grow with positions; of those that don't the greatest is the last, so that what is left is a span.
  mutating func know(_ mark: WebhookQueue.Mark) { if mark.number > last.number { last = mark } }

  /// Its newest event, `last`, stays in the store.
  mutating func leave(from mark: WebhookQueue.Mark) {
    let first = left.map { $0.first.number < mark.number ? $0.first : mark } ?? mark
    left = Left(first: first, last: last)
  }

  mutating func beginReading() {
    turn = .reading
    asked = left?.last
  }

  /// - Parameter rest: from where on there is more of what was to be read; nil: there is none.
  mutating func hasRead(_ rest: WebhookQueue.Mark?) {
    defer { asked = nil }
    guard let asked, let now = left else { return }
    if let rest {
      left?.first = rest
    } else if now.last.number > asked.number {
      // It came meanwhile.
      left?.first = WebhookQueue.Mark(number: asked.number + 1, position: asked.position + 1)
    } else {
      left = nil
    }
  }

  /// Its first notice has arrived, or is given up.
  mutating func drop() -> WebhookQueue.Notice? {
    guard let dropped = head else { return nil }
    (failures, refusedSince) = (0, nil)
    notices[used].body = []
    used += 1
    bytes -= dropped.size
    if used > 64, used > notices.count / 2 {
      notices.removeFirst(used)
      used = 0
    }
    return dropped
  }

  /// Its first notice has not arrived.
  /// - Returns: how often, one after the other.
  mutating func fail(isRefused: Bool, now: Instant) -> Int {
    failures += 1
    refusedSince = isRefused ? refusedSince ?? now : nil
    return failures
  }

  /// All that is here stays in the store alone.
  /// - Parameter givenUp: what is not after this position is not sent again.
  /// - Returns: how many bytes that were.
  mutating func putBack(givenUp: UInt64) -> Int {
    defer { (notices, used, bytes) = ([], 0, 0) }
    if let head, head.position <= givenUp { (failures, refusedSince) = (0, nil) }
    if let first = notices[used...].filter({ $0.position > givenUp }).min(by: { $0.id.number < $1.id.number })
    {
      left = Left(first: Self.mark(first), last: last)
    }
    return bytes
  }

  /// - Returns: how many bytes of notices are gone; one that is on its way stays.
  mutating func giveUp(upTo position: UInt64) -> Int {
    // What was said of its next one is not said of the one behind.
    if turn != .sending, let next, next.position <= position { (failures, refusedSince) = (0, nil) }
    let kept = notices[used...].enumerated().filter { index, notice in
      notice.position > position || index == 0 && turn == .sending
    }.map(\.element)
    let before = bytes
    (notices, used) = (kept, 0)
    bytes = kept.reduce(0) { $0 + $1.size }
    if let now = left {
      if now.last.position <= position {
        // What is read of it says nothing of what comes from here on.
        (left, asked) = (nil, nil)
      } else if now.first.position <= position {
        left?.first.position = position + 1
      }
    }
    return before - bytes
  }
}
