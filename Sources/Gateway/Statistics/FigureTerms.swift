internal import Model
internal import Rooms

/// How figures are made, and who reads them.
final class FigureTerms: Sendable {
  /// Of the server; empty: it isn't said.
  let version: String
  /// Between two figures.
  let pace: Duration
  let started: WallTime
  let feeds = FigureFeeds()
  let readers = FigureReaders()
  let loads = WorkerLoads()

  init(version: String, pace: Duration, rooms: RoomDirectory) {
    self.version = version
    self.pace = pace
    started = rooms.wallTime
  }
}
