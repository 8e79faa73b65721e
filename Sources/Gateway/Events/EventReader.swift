internal import HTTPServer
internal import Model
internal import Rooms
internal import Synchronization

/// One who reads events as they happen: does what its `EventStream` says, on the HTTP server's thread, which asks it whenever
/// there is more and its client has taken what came before.
///
/// It keeps nothing of what it says: events are in the log, and their text is made once for all (`RoomEvent.wire`). A reader that
/// falls behind costs a place in the log and no more.
final class EventReader: HTTPBodySource {
  /// Events that are read at once: while they are, no room can write.
  private static let batch = 32

  private let terms: StreamTerms
  /// The name in the path; nil: all rooms.
  private let room: String?
  private let feed: EventFeed
  private let stream: Mutex<EventStream>

  init(_ terms: StreamTerms, of room: String?, at position: EventStream.Position, feed: EventFeed) {
    self.terms = terms
    self.room = room
    self.feed = feed
    stream = Mutex(EventStream(at: position, expires: terms.expires))
  }

  var signal: HTTPBodySignal { feed.signal }

  /// Where the present is read.
  private var state: String { RESTDoor.presentState(of: room) }

  func produce(
    into bytes: inout [UInt8], enough: Int, now: Instant, ending: HTTPBodyEnding?
  ) -> HTTPBodyStep {
    let full = bytes.count + enough
    return stream.withLock { stream in
      stream.look()
      while bytes.count < full {
        switch stream.next(terms.circumstances(now, ending)) {
        case .say(let line): EventStreamWriter.write(line, to: &bytes)
        case .read(let position): read(position, &stream, into: &bytes, full: full, now: now)
        case .wait(let moment): return .wait(until: moment)
        case .end: return .end
        }
      }
      return .more
    }
  }

  /// One that may read no more keeps no place by taking its time.
  func mustEnd(now: Instant) -> Bool { terms.circumstances(now, nil).refusal != nil }

  private func read(
    _ position: EventStream.Position, _ stream: inout EventStream, into bytes: inout [UInt8], full: Int,
    now: Instant
  ) {
    do throws(EventLogError) {
      let page = try page(after: position)
      var (reached, count) = (position, 0)
      for (id, next, event) in page.events {
        guard bytes.count < full else { break }
        EventStreamWriter.write(id: id, type: event.kind.rawValue, data: event.json, to: &bytes)
        (reached, count) = (next, count + 1)
      }
      stream.took(
        reached, count: count, isLast: page.isLast && count == page.events.count, isOver: page.isOver,
        now: now)
    } catch {
      stream.failed(EventStreamEnd(error, state: state))
    }
  }

  private typealias Page = (
    events: [(id: String, next: EventStream.Position, event: RoomEvent)], isLast: Bool, isOver: Bool
  )

  private func page(after position: EventStream.Position) throws(EventLogError) -> Page {
    let log = terms.rooms.events
    switch position {
    case .room(let id, let after):
      let page = try log.events(of: room ?? "", life: id, after: after, limit: Self.batch)
      let events = page.events.map { event in
        (
          EventID(roomId: id, number: event.id).text, EventStream.Position.room(id: id, after: event.id),
          event
        )
      }
      let last = page.events.last?.id ?? after ?? page.lastEvent
      // Where nothing is behind it there is nothing more to read for now, whatever the page says.
      let hasGone = after.map { last > $0 } ?? true
      return (events, last >= page.lastEvent || !hasGone, page.isOver)
    case .all(let cursor):
      let page = try log.events(after: cursor, limit: Self.batch)
      let events = page.events.map { ($0.cursor, EventStream.Position.all(after: $0.cursor), $0.event) }
      return (events, page.isLast, false)
    }
  }
}
