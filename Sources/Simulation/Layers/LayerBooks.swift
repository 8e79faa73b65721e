internal import Crypto
internal import Model
internal import Signalling
internal import SyntheticPeers

/// What is written down of a conference on narrow paths, and judged: as it leaves the server, so that nothing that a path loses
/// excuses anything.
final class LayerBooks {
  /// What a viewer said of a track, and when that came to the server.
  struct View {
    var at: Instant
    var picture: PictureWanted
  }

  /// A slot of a subscriber.
  struct Slot: Hashable {
    var subscriber: Int
    var ssrc: UInt32
  }

  let plan: LayerPlan
  /// Slots of pictures, in the order in which something first left in them.
  private(set) var streams: [SlotRecord] = []
  private var streamNumbers: [Slot: Int] = [:]
  /// By subscriber.
  var paths: [Int: PathRecord] = [:]
  /// By subscriber and track.
  private(set) var views: [Int: [TrackName: [View]]] = [:]
  /// When `publish` left for the publisher of a track: which encodings, by RID.
  private(set) var published: [TrackName: [(at: Instant, rid: String, isActive: Bool)]] = [:]
  /// What was said of a track's stream, and when, by subscriber and track.
  private(set) var words: [Int: [String: [(at: Instant, body: StreamBody)]]] = [:]
  /// Opens what leaves, by subscriber.
  var ears: [Int: SRTPSession] = [:]
  /// What left before its far end had the keys.
  var unopened: [Int: [(sealed: [UInt8], section: SendSection, at: Instant)]] = [:]
  /// When something was rebuilt from its bytes.
  var rebuiltAt: [Instant] = []

  init(_ plan: LayerPlan) { self.plan = plan }

  func stream(_ slot: Slot) -> SlotRecord {
    if let number = streamNumbers[slot] { return streams[number] }
    let record = SlotRecord(slot)
    streamNumbers[slot] = streams.count
    streams.append(record)
    return record
  }

  func note(_ picture: PictureWanted, of track: TrackName, by subscriber: Int, now: Instant) {
    views[subscriber, default: [:]][track, default: []].append(View(at: now, picture: picture))
  }

  func note(_ word: StreamBody, to subscriber: Int, now: Instant) {
    words[subscriber, default: [:]][word.track, default: []].append((now, word))
  }

  func note(publish track: TrackName, rid: String, isActive: Bool, now: Instant) {
    published[track, default: []].append((now, rid, isActive))
  }

  /// As it stood at a moment.
  func view(of track: TrackName, by subscriber: Int, at moment: Instant) -> PictureWanted {
    views[subscriber]?[track]?.last { $0.at <= moment }?.picture ?? PictureWanted()
  }

  /// When a viewer saw a picture of an encoding last, and not just for the moment until another begins.
  func lastSeen(_ track: TrackName, encoding: Int, before moment: Instant) -> Instant? {
    streams.compactMap { stream -> Instant? in
      let pictures = stream.pictures(from: Instant(nanoseconds: 0), until: moment)
      return pictures.indices.last { place in
        guard pictures[place].track == track, pictures[place].encoding == encoding else { return false }
        let begin = pictures[..<place].lastIndex { $0.track != track || $0.encoding != encoding }
        let since = pictures[begin.map { $0 + 1 } ?? pictures.startIndex].at
        let until = place + 1 < pictures.endIndex ? pictures[place + 1].at : moment
        return until - since >= Self.moment
      }.map { pictures[$0].at }
    }.max()
  }
  private static let moment = Duration.milliseconds(100)

  /// Whether someone who is shown the track, or was, wanted to see it at some time of a span.
  func isAwaited(_ track: TrackName, from: Instant, until: Instant) -> Bool {
    Set(streams.map(\.slot.subscriber)).contains { subscriber in
      view(of: track, by: subscriber, at: from).quality != .off
        || views[subscriber]?[track]?.contains {
          $0.at > from && $0.at <= until && $0.picture.quality != .off
        } ?? false
    }
  }

  /// Whether a viewer wanted nothing of a track at some time of a span.
  func wantsNothing(of track: TrackName, by subscriber: Int, from: Instant, until: Instant) -> Bool {
    view(of: track, by: subscriber, at: from).quality == .off
      || views[subscriber]?[track]?.contains {
        $0.at > from && $0.at < until && $0.picture.quality == .off
      } ?? false
  }

  /// Whether a viewer has heard of no pause of a track, neither before a span nor in it.
  func isActive(_ track: String, to subscriber: Int, from: Instant, until: Instant) -> Bool {
    let words = words[subscriber]?[track] ?? []
    let before = words.last { $0.at <= from }?.body.state ?? .active
    return before == .active && !words.contains { $0.at > from && $0.at <= until && $0.body.state != .active }
  }

  /// Whether a viewer has heard of a pause of a track, before a span or in it.
  func isPausedForSome(_ track: String, from: Instant, until: Instant) -> Bool {
    words.keys.contains { !isActive(track, to: $0, from: from, until: until) }
  }

  /// What left of a track for a viewer, in all slots, in the order in which it did.
  func pictures(of track: TrackName, to subscriber: Int) -> [SlotRecord.Picture] {
    streams.filter { $0.slot.subscriber == subscriber }.flatMap(\.pictures).filter { $0.track == track }
      .sorted { $0.at < $1.at }
  }

  /// Something that others may notice: a viewer's word of what it shows, or one to a publisher of what it sends.
  struct Change: Hashable {
    var at: Instant
    /// The participant whose word it is, or who has it.
    var by: Int
  }

  /// In the order in which they came.
  var changes: [Change] {
    var found: Set<Change> = []
    for (viewer, tracks) in views {
      for view in tracks.values.joined() { found.insert(Change(at: view.at, by: viewer)) }
    }
    for (track, words) in published {
      for word in words { found.insert(Change(at: word.at, by: track.publisher)) }
    }
    return found.sorted { ($0.at, $0.by) < ($1.at, $1.by) }
  }

  func hasChangedView(_ subscriber: Int, from: Instant, until: Instant) -> Bool {
    views[subscriber]?.values.contains { $0.contains { $0.at > from && $0.at <= until } } ?? false
  }
}

/// What left in one slot for pictures.
final class SlotRecord {
  /// A picture as it left.
  struct Picture {
    var track: TrackName
    var encoding: Int
    var number: Int
    var spatial: Int
    var temporal: Int
    var at: Instant
  }

  let slot: LayerBooks.Slot
  var decoder = ModelDecoder()
  var pictures: [Picture] = []
  /// When its last packet left.
  var lastAt = Instant(nanoseconds: 0)

  init(_ slot: LayerBooks.Slot) { self.slot = slot }

  func pictures(from: Instant, until: Instant) -> ArraySlice<Picture> {
    let first = Self.place(in: pictures, of: from)
    return pictures[first..<Self.place(in: pictures, of: until)]
  }

  /// The first that left at a moment or later.
  private static func place(in pictures: [Picture], of moment: Instant) -> Int {
    var (low, high) = (0, pictures.count)
    while low < high {
      let middle = (low + high) / 2
      if pictures[middle].at < moment { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// What left for one subscriber, by tenths of a second.
struct PathRecord {
  struct Tenth {
    /// With UDP and IP.
    var bytes = 0
    var padding = 0
    /// Packets that were asked for again.
    var again = 0
    var audio = 0
  }

  static let tenth: Int64 = 100_000_000
  /// What the path carries, from when on.
  var capacities: [(from: Instant, rate: Int64)] = []
  private(set) var tenths: [Tenth] = []
  var lastAudio: [UInt32: Instant] = [:]

  mutating func note(_ now: Instant, _ change: (inout Tenth) -> Void) {
    let place = Int(now.nanoseconds / Self.tenth)
    while tenths.count <= place { tenths.append(Tenth()) }
    change(&tenths[place])
  }

  func sum(_ from: Int, _ count: Int, _ value: (Tenth) -> Int) -> Int {
    tenths[min(from, tenths.count)..<min(from + count, tenths.count)].reduce(0) { $0 + value($1) }
  }

  /// Spans in which the path carried the same all the time.
  func spans(until end: Instant) -> [(from: Instant, until: Instant, rate: Int64)] {
    capacities.indices.map { index in
      (
        capacities[index].from, index + 1 < capacities.count ? capacities[index + 1].from : end,
        capacities[index].rate
      )
    }
  }
}
