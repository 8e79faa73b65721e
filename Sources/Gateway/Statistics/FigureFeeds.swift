internal import HTTPServer
internal import Model
internal import Rooms
internal import Synchronization

/// What figures are of.
enum FigureView: Hashable, Sendable {
  /// The server and its workers, and so many rooms: the first of a list.
  case server(rooms: Int, RoomListing)
  /// A room, and so many of those who are in it, beside those of these ids.
  case room(ExactName, people: Int, PeopleListing, including: [String] = [])
}

/// Figures that are read, each view of them once, however many read it.
final class FigureFeeds: Sendable {
  private struct Place { weak var feed: FigureFeed? }

  private let places = Mutex<[FigureView: Place]>([:])

  init() {}

  /// How many are made.
  var count: Int { places.withLock { $0.count } }

  /// - Parameters:
  ///   - permit: whether a view may be made that isn't yet; what is made already costs nothing more.
  ///   - measure: makes the figures, as the text of an event; nil: there are none any more.
  ///   - pause: between two of them.
  /// - Returns: nil: it may not.
  func feed(
    of view: FigureView, permit: () -> Bool = { true },
    measure: @escaping @Sendable () async -> [UInt8]?,
    pause: @escaping @Sendable () async throws -> Void
  ) -> FigureFeed? {
    let (feed, _) = places.withLock { places -> (FigureFeed?, before: FigureFeed?) in
      // One whose room is over says no more than that, and the room may have been made again. If this is its last hold it ends once
      // the table is not locked any more, as in `tidy`.
      let before = places[view]?.feed
      if let before, !before.newest.isOver { return (before, nil) }
      guard permit() else { return (nil, before) }
      let feed = FigureFeed(measure: measure, pause: pause) { [weak self] in self?.tidy(view) }
      places[view] = Place(feed: feed)
      return (feed, before)
    }
    return feed
  }

  /// No reader has it any more, unless it was made again.
  private func tidy(_ view: FigureView) {
    // What was made again may end here, and then comes back to this: not while the table is locked.
    _ = places.withLock { places -> FigureFeed? in
      let feed = places[view]?.feed
      if feed == nil { places[view] = nil }
      return feed
    }
  }
}

/// Figures of one view, made again and again while there are readers. Held by them, and gone with the last.
final class FigureFeed: Sendable {
  private struct State {
    var number = 0
    var text: [UInt8] = []
    var isOver = false
  }

  let signal = HTTPBodySignal()
  private let state = Mutex(State())
  private let work = Mutex<Task<Void, Never>?>(nil)
  private let isGone: @Sendable () -> Void

  fileprivate init(
    measure: @escaping @Sendable () async -> [UInt8]?,
    pause: @escaping @Sendable () async throws -> Void, isGone: @escaping @Sendable () -> Void
  ) {
    self.isGone = isGone
    let task = Task { [weak self] in
      while !Task.isCancelled {
        let text = await measure()
        guard self?.take(text) == true else { return }
        do { try await pause() } catch { return }
      }
    }
    work.withLock { $0 = task }
  }

  deinit {
    work.withLock { $0 }?.cancel()
    isGone()
  }

  var newest: FigureStream.Newest {
    state.withLock { FigureStream.Newest(number: $0.number, isOver: $0.isOver) }
  }

  /// The newest figures, as they go over the wire.
  var text: [UInt8] { state.withLock { $0.text } }

  /// - Returns: whether there are to be more.
  private func take(_ text: [UInt8]?) -> Bool {
    state.withLock { state in
      guard let text else {
        state.isOver = true
        return
      }
      state.number += 1
      state.text = text
    }
    signal.raise()
    return text != nil
  }
}
