internal import Engine
internal import Model
internal import Rooms
internal import Signalling

/// How the server and its workers do, and some of its rooms.
struct ServerStatistics: Record {
  static let definition = "ServerStatistics"
  static let summary = "How the server does: rates are bits per second."

  /// RFC 3339.
  var time = ""
  var version: String?
  var startedAt = ""
  /// Seconds.
  var uptime: Double?
  var rooms = 0
  var participants = 0
  var received = 0
  var sent = 0
  var workers: [WorkerStatistics] = []
  var items: [RoomStatistics] = []
  /// There are more rooms behind these.
  var hasMore = false

  init() {}

  mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    let any = 0...Int.max
    try coder.text("time", &time, .any)
    try coder.text("version", &version, .any)
    try coder.text("startedAt", &startedAt, .any)
    try coder.number("uptime", &uptime)
    try coder.integer("rooms", &rooms, any)
    try coder.integer("participants", &participants, any)
    try coder.integer("received", &received, any)
    try coder.integer("sent", &sent, any)
    try coder.records("workers", &workers, .addresses)
    try coder.records("items", &items, .people)
    try coder.flag("hasMore", &hasMore)
  }
}

/// How one worker does.
struct WorkerStatistics: Record {
  static let definition = "WorkerStatistics"
  static let summary = "How one worker of the media plane does."

  var worker = 0
  /// It has said how it does.
  var answered = false
  /// The share of the time in which it is at work: 0–1; nil: not known yet.
  var load: Double?
  var received: Int?
  var sent: Int?
  var peers: Int?
  var tracks: Int?

  init() {}

  /// - Parameter report: nil: it does not answer.
  init(_ worker: Int, _ report: WorkerReport?, _ load: WorkerLoads.Load?) {
    self.worker = worker
    guard let report else { return }
    answered = true
    (peers, tracks) = (report.peers, report.tracks)
    self.load = load?.share
    (received, sent) = (load?.received, load?.sent)
  }

  mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    let any = 0...Int.max
    try coder.integer("worker", &worker, any)
    try coder.flag("answered", &answered)
    try coder.number("load", &load)
    try coder.integer("received", &received, any)
    try coder.integer("sent", &sent, any)
    try coder.integer("peers", &peers, any)
    try coder.integer("tracks", &tracks, any)
  }
}

/// How one room does.
struct RoomStatistics: Record {
  static let definition = "RoomStatistics"
  static let summary = "How one room does: rates are bits per second."

  var id = ""
  var name = ""
  /// Seconds.
  var age: Double?
  var participants = 0
  var publishers = 0
  var tracks = 0
  var received = 0
  var sent = 0
  /// Of its participants the worst: 0–1, and seconds.
  var loss: Double?
  var roundTrip: Double?
  /// How many speak.
  var speaking = 0
  /// How many wait to be let in.
  var waiting = 0
  var recorded = false
  /// No one else is let in.
  var locked = false

  init() {}

  init(_ room: RoomSnapshot) {
    (id, name, age) = (room.info.id.text, room.info.name, room.age)
    (participants, publishers, tracks) = (room.participants, room.publishers, room.tracks)
    (received, sent) = (room.bitrates.received, room.bitrates.sent)
    (loss, roundTrip) = (room.loss, room.roundTrip?.shownSeconds)
    (speaking, waiting) = (room.speaking, room.waiting)
    (recorded, locked) = (room.info.isRecorded, room.settings.isLocked)
  }

  mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    let any = 0...Int.max
    try coder.text("id", &id, .room)
    try coder.text("name", &name, .any)
    try coder.number("age", &age)
    try coder.integer("participants", &participants, any)
    try coder.integer("publishers", &publishers, any)
    try coder.integer("tracks", &tracks, any)
    try coder.integer("received", &received, any)
    try coder.integer("sent", &sent, any)
    try coder.number("loss", &loss)
    try coder.number("roundTrip", &roundTrip)
    try coder.integer("speaking", &speaking, any)
    try coder.integer("waiting", &waiting, any)
    try coder.flag("recorded", &recorded)
    try coder.flag("locked", &locked)
  }
}

extension Duration {
  /// To the microsecond.
  var shownSeconds: Double { (Double(wholeNanoseconds) / 1_000).rounded() / 1e6 }
}
