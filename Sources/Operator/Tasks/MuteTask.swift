internal import AccessTokens
internal import HTTPClient

/// A mute of one track, or of all tracks of a source, which are looked up first.
struct MuteTask: OperatorTask {
  private let room: String
  private let identity: String
  private let source: String?
  private let muted: Bool
  private let style: Style
  /// nil: not looked up yet.
  private var waiting: [String]?
  private var tracks: [StrictJSON] = []
  private var output = Output()

  /// - Parameters:
  ///   - track: an id, or a source.
  ///   - muted: false lifts an administrator's mute.
  init(room: String, identity: String, track: String, muted: Bool, style: Style) {
    self.room = room
    self.identity = identity
    self.muted = muted
    self.style = style
    let isSource = TrackSource(rawValue: track) != nil
    source = isSource ? track : nil
    waiting = isSource ? nil : [track]
  }

  var ask: Ask? {
    let path = ["rooms", room, "participants", identity]
    guard let waiting else { return Ask(path, right: .administer(room)) }
    return waiting.first.map {
      Ask(
        .post, path + ["tracks", $0, "mute"], right: .administer(room),
        body: .object(["muted": .boolean(muted)]))
    }
  }

  mutating func take(_ answer: OperatorAnswer) throws(OperatorError) {
    guard let json = answer.json else { throw .notRoost(status: answer.status, type: nil) }
    if waiting != nil {
      waiting?.removeFirst()
      tracks.append(json)
    } else {
      let found = json["tracks"]?.array?.filter { $0["source"]?.string == source } ?? []
      guard !found.isEmpty else { throw .noTrack(source: source ?? "") }
      waiting = found.compactMap { $0["id"]?.string }
    }
    guard waiting?.isEmpty == true else { return }
    if style.json {
      // One track, or several of a source.
      output.print(source == nil ? tracks[0] : .object(["items": .array(tracks)]))
    } else {
      output.text = ParticipantView.tracks(tracks).text(width: style.width)
    }
  }

  mutating func takeOutput() -> Output { output.take() }
}
