internal import Media
internal import Model

/// Whether it is worth a short wait for the rest of a video frame before a worker looks at its sockets again.
///
/// A frame is a few packets, which a browser sends over some hundred microseconds. To wake for each of them costs a worker more than to
/// forward it to a few subscribers, and no subscriber can show a frame before its last packet. Audio is a packet by itself: after
/// one of those the worker doesn't wait.
struct FrameGathering: BitwiseCopyable {
  private var isOpen = false
  private var hasAudio = false

  /// A packet of a publisher at this worker came.
  @inline(__always)
  mutating func note(_ info: PacketInfo, _ kind: MediaKind) {
    if kind == .audio { hasAudio = true } else { isOpen = !info.flags.contains(.marker) }
  }

  /// Asked at the end of a turn: the last frame that came in it is not complete.
  mutating func take() -> Bool {
    defer { self = FrameGathering() }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.audioGathered) { return isOpen || hasAudio }
    #endif
    return isOpen && !hasAudio
  }
}
