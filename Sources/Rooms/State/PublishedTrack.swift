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
  /// Its encodings that are watched, as bits in the order of its description; all, before anything is known.
  var watched: UInt8 = .max
  /// Its publisher knows which codecs all others take, as far as the room does.
  var knowsCodecs = false
}
