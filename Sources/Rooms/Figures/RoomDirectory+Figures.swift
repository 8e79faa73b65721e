public import Engine
public import Model

/// How the server and its rooms do, for those who list or run them.
extension RoomDirectory {
  /// Rooms of one page.
  /// - Parameter after: only those behind it.
  public func rooms(
    _ listing: RoomListing, after: ListPlace?, limit: Int
  ) async -> [Placed<RoomSnapshot>] {
    let known = registry.withRooms { $0.listed }
    let search = NameSearch(listing.search)
    let page = known.filter { search.finds($0.name) }
      .map { Placed(place: ListPlace(value: $0.value(of: listing.order), name: $0.name), item: $0.handle) }
      .page(after: after, isDescending: listing.isDescending, limit: limit)
    var found: [Placed<RoomSnapshot>] = []
    for room in page { found.append(Placed(place: room.place, item: await room.item.snapshot)) }
    return found
  }

  /// Rooms that a list looks at.
  public var roomCount: Int { registry.withRooms { $0.listedCount } }

  /// Of all rooms together, as sampled last.
  public var bitrates: Bitrates { registry.withRooms { $0.bitrates } }

  /// Counters of the media plane by worker; nil of one that does not answer in time.
  public func workerReports(within patience: Duration) async -> [WorkerReport?] {
    await media.port.reports(patience)
  }

  /// The media plane's clock, which never steps.
  public var instant: Instant { media.now }

  /// A moment of that clock on the time line of the events.
  public func wallTime(at moment: Instant) -> WallTime { WallTime(terms.epoch.ntp(at: moment)) }

  /// Waits; throws when the task is cancelled.
  public func pause(for span: Duration) async throws { try await media.port.pause(span) }
}

extension RoomAdministration {
  /// How the room does, and the first of those who are in it.
  /// - Parameter wanted: ids of participants that are among them in any case, if they are in.
  public func figures(
    _ listing: PeopleListing, including wanted: [String] = [], limit: Int
  ) async -> RoomFigures {
    await room.figures(listing, including: wanted.map { ParticipantID(known: $0) }, limit: limit)
  }

  /// Participants of one page.
  /// - Parameter after: only those behind it.
  public func participants(
    _ listing: PeopleListing, after: ListPlace?, limit: Int
  ) async -> [Placed<ParticipantSnapshot>] {
    await room.participants(listing, after: after, limit: limit)
  }
}

extension Room {
  func figures(
    _ listing: PeopleListing, including wanted: [ParticipantID], limit: Int
  ) async -> RoomFigures {
    let (ids, hasMore) = state.figurePage(listing, including: wanted, limit: limit)
    let answers = await answers(to: state.figureQuestion(about: ids))
    return RoomFigures(
      room: state.snapshot(now: now), people: state.figures(ids, answers), hasMore: hasMore)
  }

  func participants(
    _ listing: PeopleListing, after: ListPlace?, limit: Int
  ) -> [Placed<ParticipantSnapshot>] {
    state.list(listing, after: after, limit: limit).compactMap { placed in
      guard let found = try? state.participant(placed.place.name) else { return nil }
      return Placed(place: placed.place, item: found)
    }
  }
}

extension DirectoryState.Listed {
  /// By what a list is ordered.
  fileprivate func value(of order: RoomListing.Order) -> Int {
    switch order {
    case .name: 0
    case .created: Int(clamping: number)
    case .participants: participants
    case .received: bitrates.received
    case .sent: bitrates.sent
    }
  }
}
