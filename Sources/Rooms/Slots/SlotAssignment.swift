/// Which track a slot shows, by the section's mid.
public struct SlotAssignment: Equatable, Sendable {
  public let mid: String
  public let track: TrackID?
}
