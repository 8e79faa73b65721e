internal import AccessTokens
internal import HTTPServer
internal import Model
internal import Rooms
internal import Signalling

/// `/v1/statistics`
extension RESTDoor {
  /// Rooms or people in one event, where nothing is said, and at most.
  private static let usuallyShown = 50
  private static let mostShown = 100
  /// People that are shown beside those, at most.
  private static let mostIncluded = 8
  /// Seconds between two events.
  private static let pace = 2...60

  @Sendable func streamStatistics(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    let view = try view(call)
    let every = try Self.every(call)
    guard !rooms.isDraining else { return Problem.draining() }
    if case .room = view { _ = try room(call) }
    let seat = try seat(call)
    var response = HTTPResponse.eventStream
    response.stream = FigureReader(terms(of: call), every: every, of: try feed(of: view, call), seat: seat)
    return response
  }

  /// One that isn't made yet is made at once, and costs what a list of it does.
  private func feed(of view: FigureView, _ call: RESTCall) throws(RESTProblem) -> FigureFeed {
    let (cost, now) = (looks(at: view), rooms.instant)
    let feed = figures.feeds.feed(
      of: view, permit: { listPace.take(call.holder, looks: cost, now: now) }, measure: measure(view),
      pause: { [rooms, figures] in try await rooms.pause(for: figures.pace) })
    guard let feed else { throw RESTProblem(AdministrationError.tooOften) }
    return feed
  }

  private func looks(at view: FigureView) -> Int {
    switch view {
    case .server(let limit, _): looks(atRooms: limit)
    // Each of them is asked for, and its tracks.
    case .room(_, let limit, _, let included): Self.lookOfItem * (limit + included.count + 1)
    }
  }

  private func view(_ call: RESTCall) throws(RESTProblem) -> FigureView {
    let limit = try RESTPage.limit(of: call.request, usual: Self.usuallyShown, most: Self.mostShown)
    let included = try Self.included(call)
    guard let room = call.parameters["room"] else {
      guard included.isEmpty else { throw .query("include names participants of a room: room is missing") }
      return try .server(rooms: limit, RESTPage.rooms(call.request))
    }
    return try .room(ExactName(room), people: limit, RESTPage.people(call.request), including: included)
  }

  /// Ids of participants that are shown in any case. The same in another order is the same view.
  private static func included(_ call: RESTCall) throws(RESTProblem) -> [String] {
    guard let text = call.request.queryItem("include") else { return [] }
    let ids = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    guard ids.count <= mostIncluded, ids.allSatisfy(isParticipant) else {
      throw .query(
        "include must be ids of at most \(mostIncluded) participants, as in PA_k3XbQ9uTzLw2, with commas between"
      )
    }
    return Set(ids).sorted()
  }

  private static func isParticipant(_ id: String) -> Bool {
    id.wholeMatch(of: /PA_[0-9A-Za-z]{12}/) != nil
  }

  /// At least so long between two events of one reader. What is made in between comes a little early or late.
  private static func every(_ call: RESTCall) throws(RESTProblem) -> Duration {
    guard let text = call.request.queryItem("every") else { return .zero }
    guard let seconds = Int(text), pace.contains(seconds) else {
      throw .query("every must be a whole number from \(pace.lowerBound) to \(pace.upperBound)")
    }
    return .milliseconds(1_000 * seconds - 1_000)
  }

  private func seat(_ call: RESTCall) throws(RESTProblem) -> FigureReaders.Seat {
    let isOperator = call.permission.token?.grants.roomList == true
    do throws(FigureReaders.Full) {
      return try figures.readers.take(call.holder, isOperator: isOperator)
    } catch {
      var problem =
        switch error {
        case .one:
          RESTProblem(
            status: 429, code: "too-many-streams", title: "Too many streams of figures for one who reads")
        case .all:
          RESTProblem(
            .full(
              "readers of figures: \(FigureReaders.most), \(FigureReaders.ofOperators) of them for who may list rooms"
            ))
        }
      problem.headers = [("retry-after", "5")]
      throw problem
    }
  }

  // MARK: - Figures

  /// What makes an event of a view; it gives nil once there is no such room.
  private func measure(_ view: FigureView) -> @Sendable () async -> [UInt8]? {
    switch view {
    case .server(let limit, let listing): return { await server(limit, listing) }
    case .room(let name, let limit, let listing, let included):
      return { await people(of: name.text, limit, listing, included) }
    }
  }

  private func server(_ limit: Int, _ listing: RoomListing) async -> [UInt8] {
    let reports = await rooms.workerReports(within: .seconds(1))
    let found = await rooms.rooms(listing, after: nil, limit: limit + 1)
    let (counts, bitrates, now) = (rooms.counts, rooms.bitrates, rooms.wallTime)
    var said = ServerStatistics()
    said.time = now.text
    said.version = figures.version.isEmpty ? nil : figures.version
    said.startedAt = figures.started.text
    said.uptime = Double(max(0, now.milliseconds - figures.started.milliseconds)) / 1_000
    (said.rooms, said.participants) = (counts.rooms, counts.participants)
    (said.received, said.sent) = (bitrates.received, bitrates.sent)
    said.workers = reports.enumerated().map { worker, report in
      WorkerStatistics(
        worker, report, report.flatMap { figures.loads.load($0, now: rooms.instant) })
    }
    said.items = found.prefix(limit).map { RoomStatistics($0.item) }
    said.hasMore = found.count > limit
    return Self.event("server", said)
  }

  private func people(
    of name: String, _ limit: Int, _ listing: PeopleListing, _ included: [String]
  ) async -> [UInt8]? {
    guard let room = rooms.administration(of: name) else { return nil }
    let found = await room.figures(listing, including: included, limit: limit)
    return Self.event("room", PeopleStatistics(found, at: rooms.wallTime))
  }

  private static func event(_ type: String, _ record: some Record) -> [UInt8] {
    var bytes: [UInt8] = []
    EventStreamWriter.write(type: type, data: record.json.utf8, to: &bytes)
    return bytes
  }
}
