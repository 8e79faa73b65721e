internal import Model
internal import SyntheticPeers

/// Whether a picture stands still for a viewer while another viewer changes what it wants, or an encoding goes on or off.
struct StillAudit {
  /// When pictures of one track left for the viewer, in order.
  var pictures: [Instant]
  var longest: Duration

  /// So long behind a change it counts.
  static let span = Duration.seconds(2)

  init(_ pictures: [Instant], longest: Duration) {
    (self.pictures, self.longest) = (pictures, longest)
  }

  /// Twice the time between pictures of the lowest layer of frame rate, which is what a full path leaves of it; 300 ms at least.
  static func longest(_ video: LayeredVideo) -> Duration {
    max(.milliseconds(300), .nanoseconds(2 * video.slowestInterval))
  }

  /// The picture moved until then.
  func moved(until change: Instant) -> Bool {
    let place = self.place(after: change)
    return place > 0 && change - pictures[place - 1] <= longest
  }

  /// For how long it stood still behind a change; nil: it moved.
  /// - Parameter end: when the publisher fell silent.
  func stillness(after change: Instant, until end: Instant) -> (from: Instant, until: Instant)? {
    var place = self.place(after: change)
    guard place > 0 else { return nil }
    while pictures[place - 1] < change + Self.span {
      let (from, isLast) = (pictures[place - 1], place == pictures.count)
      let next = isLast ? end : pictures[place]
      if next - from > longest { return (from, next) }
      guard !isLast else { return nil }
      place += 1
    }
    return nil
  }

  /// Of the first that left later than a moment.
  private func place(after moment: Instant) -> Int {
    var (low, high) = (0, pictures.count)
    while low < high {
      let middle = (low + high) / 2
      if pictures[middle] <= moment { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
