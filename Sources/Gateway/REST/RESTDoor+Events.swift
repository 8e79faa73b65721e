internal import AccessTokens
internal import HTTPServer
internal import Rooms
internal import Signalling

#if PLANTED_DEFECTS
  internal import Model
#endif

/// The event log, page by page.
extension RESTDoor {
  @Sendable func listRoomEvents(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    var after: Int?
    if let text = call.request.queryItem("after") {
      guard let number = Int(text), number >= 0 else { throw .query("after must be an event's id") }
      after = number
    }
    #if PLANTED_DEFECTS
      let life = PlantedDefect.isOn(.lifeUnread) ? nil : call.request.queryItem("roomId")
    #else
      let life = call.request.queryItem("roomId")
    #endif
    if Self.wantsStream(call) { return try streamRoomEvents(call, life: life, after: after) }
    let limit = try RESTPage.limit(of: call.request)
    do throws(EventLogError) {
      let page = try rooms.events.events(of: call.room, life: life, after: after, limit: limit)
      let last = page.events.last?.id ?? after ?? page.lastEvent
      return self.page(
        of: RoomEventPage(
          roomId: page.room.id.text, items: page.events.map { EventBody($0) },
          next: last < page.lastEvent ? String(last) : nil, lastEvent: page.lastEvent))
    } catch {
      throw RESTProblem(error, state: Self.presentState(of: call.room))
    }
  }

  @Sendable func listEvents(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    if Self.wantsStream(call) { return try streamEvents(call, after: call.request.queryItem("after")) }
    let limit = try RESTPage.limit(of: call.request)
    do throws(EventLogError) {
      let page = try rooms.events.events(after: call.request.queryItem("after"), limit: limit)
      return self.page(
        of: EventPage(
          items: page.events.map { EventPage.Item(cursor: $0.cursor, event: EventBody($0.event)) },
          next: page.isLast ? nil : page.cursor, cursor: page.cursor))
    } catch {
      throw RESTProblem(error, state: Self.presentState(of: nil))
    }
  }

  /// One of the two forms in which events are had.
  private func page(of value: some Encodable) -> HTTPResponse {
    var response = answer(value)
    response.headers.add("vary", "accept")
    return response
  }
}

struct RoomEventPage: Encodable {
  /// Whose events these are; their numbers are those of this room alone.
  let roomId: String
  let items: [EventBody]
  /// For `after`; nil: there is no more by now.
  let next: String?
  /// The last that the room has had.
  let lastEvent: Int
}

struct EventPage: Encodable {
  struct Item: Encodable {
    /// Continues after this event.
    let cursor: String
    let event: EventBody
  }

  let items: [Item]
  /// For `after`; nil: there is no more by now.
  let next: String?
  /// Continues after all of them, later too.
  let cursor: String
}

extension RESTProblem {
  /// - Parameter state: where the present is read.
  init(_ error: EventLogError, state: String) {
    switch error {
    case .unknownRoom: self.init(AdministrationError.unknownRoom)
    case .notACursor: self = .query("after must be a cursor from an earlier page")
    case .gone(let room, let oldest, let latest):
      self.init(
        status: 410, code: "events-gone", title: "The events after that one are no longer kept",
        detail:
          "events are numbered for each roomId; those of \(room.text) are kept from \(oldest) to \(latest)")
      members = [
        "roomId": .string(room.text), "oldest": .number(Double(oldest)), "latest": .number(Double(latest)),
        "state": .string(state),
      ]
    case .cursorGone(let oldest):
      self.init(status: 410, code: "events-gone", title: "The events after that one are no longer kept")
      members = ["oldest": .string(oldest), "state": .string(state)]
    }
  }
}
