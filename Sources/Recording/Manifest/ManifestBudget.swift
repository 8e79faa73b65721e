/// What a manifest may still take in: it is never written longer than it is read. Each entry is counted for as long as it may ever
/// become, each byte of a name for six, as JSON writes the worst.
struct ManifestBudget: Equatable {
  /// Bytes of everything that is in no list.
  private static let head = 2_048
  private static let file = 1_024
  private static let track = 1_024
  private static let participant = 512
  private static let worst = 6

  private(set) var left: Int

  init(of manifest: RecordingManifest, most: Int = RecordingManifest.mostBytes) {
    left = most - Self.head - Self.worst * (manifest.room.utf8.count + manifest.roomId.utf8.count)
  }

  /// - Returns: false where there is no room, and nothing is taken.
  mutating func take(_ bytes: Int) -> Bool {
    guard bytes <= left else { return false }
    left -= bytes
    return true
  }

  mutating func giveBack(_ bytes: Int) { left += bytes }

  static func cost(of track: RecordingManifest.Track) -> Int {
    let names = [track.track, track.participant, track.source, track.name ?? ""]
    return self.track + worst * names.reduce(0) { $0 + $1.utf8.count }
  }

  static func cost(of participant: RecordingManifest.Participant) -> Int {
    let names = [participant.id, participant.identity, participant.name ?? ""]
    return self.participant + worst * names.reduce(0) { $0 + $1.utf8.count }
  }

  static func cost(ofFile name: String) -> Int { file + worst * name.utf8.count }
}

extension RecordingManifest {
  /// Bytes that it takes as JSON, about.
  var roughSize: Int { 512 + 128 * participants.count + tracks.reduce(0) { $0 + 384 + 512 * $1.files.count } }
}
