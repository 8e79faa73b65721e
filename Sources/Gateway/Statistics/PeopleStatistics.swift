internal import Model
internal import Rooms
internal import Signalling

/// How a room does, and some of those who are in it.
struct PeopleStatistics: Record {
  static let definition = "PeopleStatistics"
  static let summary = "How a room does, and those who are in it: rates are bits per second."

  /// RFC 3339.
  var time = ""
  var room = RoomStatistics()
  var items: [PersonStatistics] = []
  /// There are more people behind these.
  var hasMore = false

  init() {}

  init(_ figures: RoomFigures, at time: WallTime) {
    self.time = time.text
    room = RoomStatistics(figures.room)
    items = figures.people.map { PersonStatistics($0) }
    hasMore = figures.hasMore
  }

  mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("time", &time, .any)
    try coder.record("room", &room)
    try coder.records("items", &items, .people)
    try coder.flag("hasMore", &hasMore)
  }
}

/// How one participant does.
struct PersonStatistics: Record {
  static let definition = "PersonStatistics"
  static let summary = "How one participant does."

  var id = ""
  var identity = ""
  var name: String?
  var hidden = false
  /// RFC 3339.
  var joinedAt = ""
  var quality: ConnectionQuality?
  var received = 0
  var sent = 0
  /// Of its transports the worst: 0–1, and seconds.
  var loss: Double?
  var roundTrip: Double?
  /// How loud it speaks: 0–1; nil: it doesn't.
  var speaking: Double?
  var tracks: [TrackStatistics] = []

  init() {}

  init(_ figures: ParticipantFigures) {
    (id, identity, name) = (figures.name.id.text, figures.name.identity, figures.name.name)
    (hidden, joinedAt, quality) = (figures.isHidden, figures.joined.text, figures.quality)
    (received, sent) = (figures.bitrates.received, figures.bitrates.sent)
    (loss, roundTrip, speaking) = (figures.loss, figures.roundTrip?.shownSeconds, figures.speaking)
    tracks = figures.tracks.map { TrackStatistics($0) }
  }

  mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    let any = 0...Int.max
    try coder.text("id", &id, .participant)
    try coder.text("identity", &identity, .identity)
    try coder.text("name", &name, .any)
    try coder.flag("hidden", &hidden)
    try coder.text("joinedAt", &joinedAt, .any)
    try coder.word("quality", &quality)
    try coder.integer("received", &received, any)
    try coder.integer("sent", &sent, any)
    try coder.number("loss", &loss)
    try coder.number("roundTrip", &roundTrip)
    try coder.number("speaking", &speaking)
    try coder.records("tracks", &tracks, .sections)
  }
}

/// How a published track does.
struct TrackStatistics: Record {
  static let definition = "TrackStatistics"
  static let summary = "A track as everybody in the room may see it, and what comes of it."

  var track = TrackBody()
  /// Of its packets; nil: none has come.
  var codec: String?
  /// Of the best encoding that comes.
  var width: Int?
  var height: Int?
  /// Pictures a second.
  var frameRate: Int?
  /// Of all encodings that come.
  var bitrate: Int?
  /// How many of its encodings come.
  var encodings: Int?

  init() {}

  init(_ figures: TrackFigures) {
    track = TrackBody(figures.info)
    codec = figures.codec?.encodingName
    guard let layers = figures.layers, !figures.info.muted else { return }
    let come = layers.ranking
    encodings = come.count
    bitrate = come.reduce(0) { $0 + Int(layers.encodings[Int($1)].rate) }
    guard let best = come.last.map({ layers.encodings[Int($0)] }) else { return }
    if best.picture.pixels > 0 {
      (width, height) = (Int(best.picture.width), Int(best.picture.height))
    }
    if let rate = best.layers.last?.frameRate, rate > 0 { frameRate = Int(rate) }
  }

  mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    let any = 0...Int.max
    try track.fields(&coder)
    try coder.text("codec", &codec, .any)
    try coder.integer("width", &width, any)
    try coder.integer("height", &height, any)
    try coder.integer("frameRate", &frameRate, any)
    try coder.integer("bitrate", &bitrate, any)
    try coder.integer("encodings", &encodings, any)
  }
}
