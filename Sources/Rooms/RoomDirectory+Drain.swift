internal import Engine
public import Model

/// The end of a server, in good order: no one new, a time to leave, and then the end for all.
extension RoomDirectory {
  /// Whether no one is let in any more.
  public var isDraining: Bool { registry.withRooms { $0.isDraining } }

  /// Until when those who are in may stay, once the server drains.
  public var drainDeadline: WallTime? { registry.withRooms { $0.drainDeadline } }

  /// Not draining, and each worker answers within a second.
  public func isReady() async -> Bool {
    guard !isDraining else { return false }
    return await media.port.isAnswering()
  }

  /// Lets no one in any more, and has everybody know until when they may stay.
  public func drain(for patience: Duration) async {
    let deadline = media.wallTime.advanced(by: patience)
    for room in beginDraining(until: deadline) { _ = await room.handle(.drain(until: deadline)) }
  }

  /// No one is let in any more; everybody learns of it and leaves.
  public func close() async {
    for room in beginDraining() { _ = await room.handle(.close(.serverShutdown)) }
  }

  private func beginDraining(until deadline: WallTime? = nil) -> [Room] {
    let rooms = registry.withRooms { rooms in
      rooms.drain(until: deadline)
      return rooms.inOrder
    }
    // Those who read what happens in them.
    events.wakeAll()
    return rooms
  }

  /// Returns when all rooms are empty, which may be at once.
  public func waitUntilEmpty() async {
    await registry.waitUntilEmpty()
  }

  public var counts: RoomCounts {
    var counts = registry.withRooms { $0.counts }
    let kept = registry.histories.counts
    counts.keptMessageBytes = kept.bytes
    counts.messagesForgotten = kept.forgotten
    return counts
  }
}
