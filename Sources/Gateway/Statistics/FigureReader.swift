internal import AccessTokens
internal import HTTPServer
internal import Model
internal import Rooms
internal import Synchronization

/// One who reads figures: does what its `FigureStream` says, on the HTTP server's thread. A reader that is slow is given the newest
/// figures once it takes more, and nothing of what came before.
final class FigureReader: HTTPBodySource {
  /// What a reader is served with.
  struct Terms: Sendable {
    let rooms: RoomDirectory
    let every: Duration
    /// From when on its token holds no longer, in seconds since 1970.
    let expires: Int
    /// Whether the reader may still read.
    let permit: @Sendable () throws(AccessTokenRefusal) -> Void
    /// Seconds since 1970.
    let wall: @Sendable () -> Int
  }

  private let terms: Terms
  private let feed: FigureFeed
  private let seat: FigureReaders.Seat
  private let stream: Mutex<FigureStream>

  init(_ terms: Terms, of feed: FigureFeed, seat: FigureReaders.Seat) {
    self.terms = terms
    self.feed = feed
    self.seat = seat
    stream = Mutex(FigureStream(every: terms.every, expires: terms.expires))
  }

  var signal: HTTPBodySignal { feed.signal }

  /// What there is to be said.
  var newest: FigureStream.Newest { feed.newest }

  func produce(
    into bytes: inout [UInt8], enough: Int, now: Instant, ending: HTTPBodyEnding?
  ) -> HTTPBodyStep {
    let full = bytes.count + enough
    return stream.withLock { stream in
      while bytes.count < full {
        switch stream.next(circumstances(now, ending), newest) {
        case .say(let line): EventStreamWriter.write(line, to: &bytes)
        case .figures: bytes += feed.text
        case .wait(let moment): return .wait(until: moment)
        case .end: return .end
        }
      }
      return .more
    }
  }

  /// One that may read no more keeps no place by taking its time.
  func mustEnd(now: Instant) -> Bool { circumstances(now, nil).refusal != nil }

  private func circumstances(_ now: Instant, _ ending: HTTPBodyEnding?) -> EventStream.Circumstances {
    var present = EventStream.Circumstances(now: now, wall: terms.wall(), ending: ending)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.figuresUnasked) { return present }
    #endif
    do throws(AccessTokenRefusal) { try terms.permit() } catch { present.refusal = EventStreamEnd(error) }
    present.drainDeadline = terms.rooms.drainDeadline?.text
    return present
  }
}
