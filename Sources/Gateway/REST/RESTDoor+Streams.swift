internal import HTTPServer
internal import Rooms

#if PLANTED_DEFECTS
  internal import Model
#endif

/// What grows while it is read, by Server-Sent Events: the event log here, figures in `RESTDoor+Statistics`.
extension RESTDoor {
  /// Whether the client would rather have events as they happen than a page of them.
  static func wantsStream(_ call: RESTCall) -> Bool {
    call.request.prefers(EventStreamWriter.mediaType, to: "application/json")
  }

  /// What a stream that answers the call has to keep to.
  func terms(of call: RESTCall) -> StreamTerms {
    StreamTerms(rooms: rooms, expires: call.permission.expires, permit: call.permission.ask, wall: wall)
  }

  /// - Parameters:
  ///   - life: the id of the room whose events are meant; nil: the one that has the name, or had it last.
  ///   - after: the last event that is known; nil: from the oldest that is kept.
  func streamRoomEvents(_ call: RESTCall, life: String?, after: Int?) throws(RESTProblem) -> HTTPResponse {
    let known = try Self.lastEventID(of: call) { EventID($0) }
    do throws(EventLogError) {
      let start = try start(in: call.room, known, life: life, after: after)
      // Else the client would come again and again to learn that there is nothing more (WHATWG HTML §9.2.1).
      guard !start.hasEnded else { return Self.nothingMore }
      return stream(call, at: .room(id: start.room.text, after: start.after), of: start.room)
    } catch {
      throw RESTProblem(error, state: Self.presentState(of: call.room))
    }
  }

  /// - Parameter cursor: nil: from the oldest event that is kept.
  func streamEvents(_ call: RESTCall, after cursor: String?) throws(RESTProblem) -> HTTPResponse {
    let known = try Self.lastEventID(of: call) { $0 }
    do throws(EventLogError) {
      _ = try rooms.events.events(after: known ?? cursor, limit: 1)
    } catch {
      if known != nil, error == .notACursor { throw .lastEventID }
      throw RESTProblem(error, state: Self.presentState(of: nil))
    }
    return stream(call, at: .all(after: known ?? cursor), of: nil)
  }

  /// Where the present is read that a reader has lost sight of.
  /// - Parameter room: nil: all of them.
  static func presentState(of room: String?) -> String {
    room.map { "/v1/rooms/\($0.percentEncoded())/participants" } ?? "/v1/rooms"
  }

  // MARK: - Where a stream begins

  private func start(
    in name: String, _ known: EventID?, life: String?, after: Int?
  ) throws(EventLogError) -> (room: RoomID, after: Int?, hasEnded: Bool) {
    var (life, after) = (life, after)
    if let known {
      // What the client has seen counts for more than the address, which stays the same however often it comes again.
      if life == nil { life = try rooms.events.events(of: name, after: nil, limit: 1).room.id.text }
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.addressBeforeLastSeen), let after {
          let page = try rooms.events.events(of: name, life: life, after: after, limit: 1)
          return (page.room.id, after, false)
        }
        if PlantedDefect.isOn(.lastSeenAnywhere) {
          let page = try rooms.events.events(of: name, life: life, after: known.number, limit: 1)
          return (page.room.id, known.number, false)
        }
      #endif
      guard known.roomId == life else { throw rooms.events.gone(of: name) }
      (life, after) = (known.roomId, known.number)
    }
    let page = try rooms.events.events(of: name, life: life, after: after, limit: 1)
    return (page.room.id, after, page.events.isEmpty && page.isOver)
  }

  /// - Parameter read: nil for what is no id.
  /// - Returns: nil: the client has none, or gave it up.
  private static func lastEventID<ID>(
    of call: RESTCall, _ read: (String) -> ID?
  ) throws(RESTProblem) -> ID? {
    guard let text = call.request.headers["last-event-id"], !text.isEmpty else { return nil }
    guard let id = read(text) else { throw .lastEventID }
    return id
  }

  private static var nothingMore: HTTPResponse {
    HTTPResponse(status: 204, headers: ["cache-control": "no-store", "vary": "accept"])
  }

  private func stream(
    _ call: RESTCall, at position: EventStream.Position, of room: RoomID?
  ) -> HTTPResponse {
    guard !rooms.isDraining else { return Problem.draining() }
    var response = HTTPResponse.eventStream
    response.headers.add("vary", "accept")
    response.stream = EventReader(
      terms(of: call), of: call.parameters["room"], at: position, feed: feeds.feed(of: room))
    return response
  }
}

extension RESTProblem {
  static let lastEventID = RESTProblem(
    status: 400, code: "last-event-id", title: "Last-Event-ID is not an id of this stream")
}
