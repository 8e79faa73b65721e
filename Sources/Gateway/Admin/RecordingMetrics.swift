internal import Model
internal import Recording

/// What is recorded, and what became of recordings.
enum RecordingMetrics {
  /// - Parameter counts: nil: nothing is recorded here.
  static func write(_ counts: RecordingStudio.Counts?, to exposition: inout Exposition) {
    let counts = counts ?? RecordingStudio.Counts()
    exposition.family("roost_recordings", .gauge, "Recordings that run.", [.init(counts.active)])
    exposition.family(
      "roost_recording_bytes", .gauge, "Bytes of the files of recordings that run.", [.init(counts.bytes)])
    exposition.family(
      "roost_recordings_kept", .gauge, "Recordings that are kept, running ones among them.",
      [.init(counts.kept)])
    exposition.family(
      "roost_recordings_ended_total", .counter, "Recordings that ended, by reason.",
      RecordingEndReason.allCases.map { .init(counts.ended[$0, default: 0], ("reason", $0.rawValue)) })
    exposition.family(
      "roost_recording_refused_total", .counter,
      "Encodings that weren't recorded for now, because their worker served as many as it may.",
      [.init(counts.refused)])
  }
}
