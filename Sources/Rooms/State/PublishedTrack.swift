internal import Model

/// A participant's track, as the media plane knows it.
struct PublishedTrack: Sendable {
  /// Who has muted it, too: it stands here alone.
  var info: TrackInfo
  let key: TrackKey
  let mid: String
  /// Of its packets, as the others' slots know it; before the first, what the description makes likely.
  var codec: CodecFormat?
  var hasStarted = false
}
