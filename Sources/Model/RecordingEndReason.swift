/// Why a recording ended.
public enum RecordingEndReason: String, Codable, Sendable, CaseIterable {
  /// Somebody who runs the room asked for it.
  case stopped
  case roomFinished
  case serverShutdown
  /// The server ended without saying so; found at its next start.
  case serverFailed
  /// It has as many bytes as it may.
  case tooLarge
  /// Less than the configured space is free.
  case diskFull
  /// Its files can't be written.
  case storageFailed
}
