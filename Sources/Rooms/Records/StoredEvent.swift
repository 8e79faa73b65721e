/// An event that is on the disk, with its place among those of all rooms.
public struct StoredEvent: Sendable {
  public var position: UInt64
  public var event: RoomEvent

  public init(position: UInt64, event: RoomEvent) {
    self.position = position
    self.event = event
  }
}
