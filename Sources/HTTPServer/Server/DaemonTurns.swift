internal import Model

/// When libmicrohttpd is run, and whether it had anything to do.
struct DaemonTurns {
  /// When it is to be run although nothing came; the distant past: at once.
  var deadline = Instant.never
  /// How often it has called.
  var callbacks: UInt64 = 0
  /// When bodies are next looked at for whether anything still comes of them; not before.
  var nextLookAtBodies = Instant(nanoseconds: .min)
}
