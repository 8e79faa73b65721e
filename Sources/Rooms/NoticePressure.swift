internal import Synchronization

#if PLANTED_DEFECTS
  internal import Model
#endif

/// How far the front doors of a room are behind with its notices.
///
/// A front door takes notices as fast as the server lets it, whatever its client does. Where many wait, the room says more than
/// the server can pass on at the moment, and participants who ask for more wait until it has caught up.
final class NoticePressure: Sendable {
  /// Mailboxes that are more than half full, of sessions that have a socket.
  private let mailboxes = Atomic(0)
  private let count = Atomic<UInt64>(0)

  var isOn: Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.noticesPourIn) { return false }
    #endif
    return mailboxes.load(ordering: .relaxed) > 0
  }

  /// Notices that were taken out of such mailboxes.
  var taken: UInt64 { count.load(ordering: .relaxed) }

  func begin() { mailboxes.add(1, ordering: .relaxed) }
  func end() { mailboxes.subtract(1, ordering: .relaxed) }
  func noteTaken() { count.wrappingAdd(1, ordering: .relaxed) }
}
