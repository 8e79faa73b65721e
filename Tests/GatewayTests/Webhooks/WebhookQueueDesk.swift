import Gateway
import Model

/// The queue with the store that it looks into.
struct WebhookQueueDesk {
  static let start = Instant(nanoseconds: 1_000_000_000)

  var queue: WebhookQueue
  /// Of each room, in order.
  var stored: [String: [WebhookQueue.Notice]] = [:]
  var position: UInt64 = 0
  /// How often a room was read.
  var reads = 0

  init(_ adjust: (inout WebhookQueue.Limits) -> Void = { _ in }) {
    var limits = WebhookQueue.Limits()
    adjust(&limits)
    queue = WebhookQueue(limits: limits)
  }

  /// The next event of a room.
  mutating func happen(_ room: String, bytes: Int = 100) {
    position += 1
    let id = EventID(roomId: room, number: (stored[room]?.last?.id.number ?? 0) + 1)
    let notice = WebhookQueue.Notice(
      id: id, position: position, body: [UInt8](repeating: 46, count: bytes))
    stored[room, default: []].append(notice)
    queue.add(id, at: position) { notice.body }
  }

  /// What the store has, as the queue asks for it.
  mutating func read(_ span: WebhookQueue.Span, bytes: Int) {
    reads += 1
    var (left, notices) = (bytes, [WebhookQueue.Notice]())
    let all = (stored[span.room] ?? []).filter {
      (span.first.number...span.last.number).contains($0.id.number)
    }
    for notice in all {
      guard notices.isEmpty || left >= notice.body.count else { break }
      left -= notice.body.count
      notices.append(notice)
    }
    let rest =
      notices.count < all.count
      ? WebhookQueue.Mark(
        number: all[notices.count].id.number, position: all[notices.count].position) : nil
    queue.came(notices, rest: rest, of: span.room)
  }

  /// What leaves now.
  mutating func send(_ now: Instant = start) -> [WebhookQueue.Notice] {
    var notices: [WebhookQueue.Notice] = []
    while true {
      switch queue.next(now: now) {
      case .send(let notice): notices.append(notice)
      case .read(let span, let bytes): read(span, bytes: bytes)
      case .wait: return notices
      }
    }
  }

  mutating func sent(_ now: Instant = start) -> [String] { send(now).map(\.id.text) }
}
