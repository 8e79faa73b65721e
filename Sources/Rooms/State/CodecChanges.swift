internal import Model

/// Codecs in which a transport's tracks come by now, and of which the others' slots don't know yet.
///
/// A publisher changes its codec with any packet, and each change has the slots of all others settled again. So all changes of
/// a transport are applied together, once a second at most, and of each track the newest alone.
struct CodecChanges: Equatable, Sendable {
  static let interval = Duration.seconds(1)

  private(set) var waiting: [TrackID: CodecFormat] = [:]
  /// When some were last applied.
  private(set) var applied: Instant?

  init(waiting: [TrackID: CodecFormat] = [:], applied: Instant? = nil) {
    self.waiting = waiting
    self.applied = applied
  }

  /// - Parameter known: the codec that the others' slots go by.
  mutating func note(_ codec: CodecFormat, of track: TrackID, known: CodecFormat?) {
    waiting[track] = codec == known ? nil : codec
  }

  mutating func forget(_ tracks: [TrackID]) {
    for track in tracks { waiting[track] = nil }
  }

  func isDue(now: Instant) -> Bool {
    guard !waiting.isEmpty else { return false }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.codecsAtOnce) { return true }
    #endif
    return applied.map { now - $0 >= Self.interval } ?? true
  }

  /// What waits, which from here on is known.
  mutating func take(now: Instant) -> [TrackID: CodecFormat] {
    defer { waiting = [:] }
    applied = now
    return waiting
  }
}
