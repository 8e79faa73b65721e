internal import HTTPServer
internal import Model
internal import Synchronization

/// One who reads figures: does what its `FigureStream` says, on the HTTP server's thread. A reader that is slow is given the newest
/// figures once it takes more, and nothing of what came before.
final class FigureReader: HTTPBodySource {
  private let terms: StreamTerms
  private let feed: FigureFeed
  private let seat: FigureReaders.Seat
  private let stream: Mutex<FigureStream>

  /// - Parameter every: at least so long between two figures.
  init(_ terms: StreamTerms, every: Duration, of feed: FigureFeed, seat: FigureReaders.Seat) {
    #if PLANTED_DEFECTS
      var terms = terms
      if PlantedDefect.isOn(.figuresUnasked) { terms.permit = {} }
    #endif
    self.terms = terms
    self.feed = feed
    self.seat = seat
    stream = Mutex(FigureStream(every: every, expires: terms.expires))
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
        switch stream.next(terms.circumstances(now, ending), newest) {
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
  func mustEnd(now: Instant) -> Bool { terms.circumstances(now, nil).refusal != nil }
}
