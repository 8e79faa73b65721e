/// Whether a track reaches its subscriber, and if not, why.
public enum StreamState: Equatable, Sendable {
  case active
  case paused(PauseReason)
  case waiting(WaitReason)

  public enum PauseReason: String, Sendable, CaseIterable {
    /// No section of the subscriber's has the codec that the track comes in.
    case codec
    /// The publisher's packets have ceased to come.
    case noMedia = "no-media"
    /// The path to the subscriber has no room for it.
    case bandwidth
    /// The subscriber wants none of it for now, and keeps its slot.
    case off
  }

  public enum WaitReason: String, Sendable, CaseIterable {
    case noSlot = "no-slot"
  }
}
