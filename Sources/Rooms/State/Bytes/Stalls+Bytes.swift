internal import Model

extension Stalls {
  func encode(into writer: inout StateWriter) {
    writer.write(UInt32(tracks.count))
    for (id, track) in tracks.sorted(by: { $0.key.text < $1.key.text }) {
      writer.write(id.text)
      writer.write(track.isStalled)
      writer.write(track.since)
      writer.write(track.wait.wholeNanoseconds)
    }
  }

  /// - Parameter version: of the room. Before the third those that were stalled stood there by name alone.
  init(from reader: inout StateReader, version: UInt8, now: Instant) throws(StateError) {
    var tracks: [TrackID: Track] = [:]
    for _ in 0..<(try reader.count(limit: stateCountLimit)) {
      let id = TrackID(known: try reader.string(limit: stateTextLimit))
      tracks[id] =
        version < 3
        ? Track(isStalled: true, since: now, wait: Self.shortestWait)
        : Track(
          isStalled: try reader.bool(), since: try reader.instant(),
          wait: .nanoseconds(try reader.integer(Int64.self)))
    }
    self.init(tracks)
  }
}
