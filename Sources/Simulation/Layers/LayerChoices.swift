internal import Model
internal import Signalling
internal import SyntheticPeers

/// The ways to show a track that there are in a span, by what its publisher sent: what each takes, and which a client has a use for.
struct LayerChoices {
  struct Choice: Equatable {
    /// The place of its encoding and spatial layer among the sizes.
    var size: Int
    var temporal: Int
    /// Bits per second, with UDP and IP.
    var rate: Double
    /// Its place among all of the track's that the viewer has a use for, from 1; 0 is nothing.
    var level = 0
  }

  private let track: LayeredTrack
  private let span: (from: Instant, until: Instant)
  /// From the smallest to the largest.
  private let sizes: [(encoding: Int, spatial: Int)]
  /// None was left out all the while, of which its server can't know where it had turned it off.
  let areAll: Bool

  /// - Returns: nil where an encoding came or went of its publisher's own accord in the span.
  init?(_ track: LayeredTrack, from: Instant, until: Instant) {
    self.track = track
    span = (from, until)
    guard from >= track.begunAt else { return nil }
    let range = from.nanoseconds - track.begunAt.nanoseconds..<until.nanoseconds - track.begunAt.nanoseconds
    var present: [Int] = []
    for (index, encoding) in track.video.encodings.enumerated() {
      let absences = encoding.absences.filter { $0.overlaps(range) }
      if absences.isEmpty { present.append(index) }
      guard absences.allSatisfy({ $0.lowerBound <= range.lowerBound && $0.upperBound >= range.upperBound })
      else { return nil }
    }
    areAll = present.count == track.video.encodings.count
    present.sort { track.video.encodings[$0].width < track.video.encodings[$1].width }
    sizes = present.flatMap { encoding in
      (0..<track.video.structure.spatialLayers).map { (encoding, $0) }
    }
  }

  func size(_ encoding: Int, _ spatial: Int) -> Int? { sizes.firstIndex { $0 == (encoding, spatial) } }

  /// The largest of which there is a use (docs/signalling.md, `view`).
  func mostSize(_ view: PictureWanted) -> Int {
    var most = sizes.count - 1
    switch view.quality {
    case .off, .low: most = min(most, 0)
    case .medium: most = min(most, max(0, (sizes.count - 1) / 2))
    case .high, nil: break
    }
    guard view.maxWidth != nil || view.maxHeight != nil, track.video.structure.spatialLayers == 1 else {
      return most
    }
    let fills = sizes.firstIndex {
      let encoding = track.video.encodings[$0.encoding]
      return Int(encoding.width) >= view.maxWidth ?? 0 && Int(encoding.height) >= view.maxHeight ?? 0
    }
    return min(most, fills ?? most)
  }

  /// From the cheapest to the best; empty where the viewer wants nothing.
  func choices(_ view: PictureWanted) -> [Choice] {
    guard view.quality != .off, !sizes.isEmpty else { return [] }
    var found: [Choice] = []
    for size in 0...mostSize(view) {
      for temporal in 0..<track.video.structure.temporalLayers where size == 0 || isFluent(temporal) {
        found.append(
          Choice(size: size, temporal: temporal, rate: rate(size, temporal), level: found.count + 1))
      }
    }
    return found
  }

  /// A larger picture of fewer than 12 pictures a second is no better than a smaller one that moves.
  private func isFluent(_ temporal: Int) -> Bool {
    let slower = track.video.structure.temporalLayers - 1 - temporal
    return slower == 0 || track.video.interval << slower <= 1_000_000_000 / 12
  }

  /// Of one that isn't sent at present: what its publisher would send.
  private func rate(_ size: Int, _ temporal: Int) -> Double {
    let (encoding, spatial) = sizes[size]
    guard track.isSent(encoding, from: span.from, until: span.until) else {
      let share = (0...spatial).reduce(0.0) { $0 + track.video.structure.share(spatial: $1) }
      let slower = [[1.0], [0.6, 1], [0.4, 0.65, 1]][track.video.structure.temporalLayers - 1][temporal]
      return Double(track.video.encodings[encoding].rate) * 1.15 * share * slower
    }
    return track.rate(
      encoding: encoding, spatial: spatial, temporal: temporal, from: span.from, until: span.until)
  }

  /// What was shown of it, by the pictures that left; nil: nothing.
  func shown(_ pictures: [SlotRecord.Picture]) -> (size: Int, temporal: Int)? {
    let known = pictures.compactMap { picture in
      size(picture.encoding, picture.spatial).map { (size: $0, picture: picture) }
    }
    // Between two the lower counts.
    guard let size = known.map(\.size).min() else { return nil }
    let (encoding, _) = sizes[size]
    let sent = track.frames[track.place(of: span.from)..<track.place(of: span.until)].filter {
      $0.encoding == encoding && $0.spatial == 0
    }
    let numbers = pictures.filter { $0.encoding == encoding }.map(\.number)
    let window = (numbers.first ?? 0)...(numbers.last ?? 0)
    var shown = 0
    for temporal in 1..<max(track.video.structure.temporalLayers, 2) {
      let all = sent.count { $0.temporal == temporal && window.contains($0.picture) }
      let left = pictures.count { $0.encoding == encoding && $0.temporal == temporal }
      guard all > 0, left * 2 >= all else { break }
      shown = temporal
    }
    return (size, shown)
  }
}

/// The best that a path carries of several tracks, found by trying everything.
enum BestCombination {
  /// What is first, and how good a combination is: how many pictures are there; then by priority from the highest, the least good
  /// ones first.
  static func value(_ levels: [(priority: Int, level: Int)]) -> [Int] {
    var value = [levels.count { $0.level > 0 }]
    for priority in Set(levels.map(\.priority)).sorted(by: >) {
      value += levels.filter { $0.priority == priority }.map(\.level).sorted()
    }
    return value
  }

  /// - Parameter tracks: what there is of each, and how much it matters.
  /// - Returns: of each track the level and its rate.
  static func find(
    _ tracks: [(priority: Int, choices: [LayerChoices.Choice])], within rate: Double
  ) -> [LayerChoices.Choice] {
    let nothing = LayerChoices.Choice(size: -1, temporal: -1, rate: 0)
    var best: (value: [Int], chosen: [LayerChoices.Choice]) = ([], tracks.map { _ in nothing })
    func extend(_ chosen: [LayerChoices.Choice], _ used: Double) {
      guard used <= rate else { return }
      guard chosen.count < tracks.count else {
        let value = value(zip(tracks, chosen).map { ($0.priority, $1.level) })
        if best.value.lexicographicallyPrecedes(value) { best = (value, chosen) }
        return
      }
      for choice in [nothing] + tracks[chosen.count].choices { extend(chosen + [choice], used + choice.rate) }
    }
    extend([], 0)
    return best.chosen
  }
}
