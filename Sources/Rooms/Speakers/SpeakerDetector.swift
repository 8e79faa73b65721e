internal import Model

/// Who speaks, by the loudness of their microphones (RFC 6464).
///
/// A level is smoothed; it must rise above one bound to make a speaker and stay below a lower one for a while to
/// end it, so that a cough makes none and a breath ends none.
struct SpeakerDetector: Equatable, Sendable {
  /// Levels at which one begins to speak and may stop, and the silence that ends it.
  static let begin = 0.30
  static let end = 0.20
  static let release = Duration.seconds(1)
  /// The weight of the latest sample.
  static let smoothing = 0.4
  /// Decibels below overload that count as silence.
  static let floor = 70.0
  /// A track that sent nothing for this long is silent.
  static let stale = Duration.milliseconds(700)

  struct Voice: Equatable, Sendable {
    var level = 0.0
    var isSpeaking = false
    var lastLoud = Instant(nanoseconds: 0)
  }

  private(set) var voices: [ParticipantID: Voice] = [:]

  /// - Parameters:
  ///   - levels: of every participant with a microphone, decibels below overload; nil: nothing is heard.
  /// - Returns: who speaks, the loudest first.
  mutating func take(_ levels: [ParticipantID: UInt8?], now: Instant) -> [Speaker] {
    voices = voices.filter { levels.keys.contains($0.key) }
    for (participant, attenuation) in levels {
      let loudness = attenuation.map { max(0, (Self.floor - Double($0)) / Self.floor) } ?? 0
      var voice = voices[participant, default: Voice()]
      voice.level += (loudness - voice.level) * Self.smoothing
      if voice.level >= Self.end { voice.lastLoud = now }
      if voice.isSpeaking {
        voice.isSpeaking = now - voice.lastLoud < Self.release
      } else {
        voice.isSpeaking = voice.level >= Self.begin
      }
      voices[participant] = voice
    }
    return voices.filter(\.value.isSpeaking)
      .sorted { ($0.value.level, $1.key.text) > ($1.value.level, $0.key.text) }
      .map { Speaker(participant: $0.key, level: ($0.value.level * 100).rounded() / 100) }
  }
}
