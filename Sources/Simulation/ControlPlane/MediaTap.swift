internal import Engine
internal import Synchronization

/// Listens at the bridge between rooms and workers: what went which way, in order.
final class MediaTap: Sendable {
  enum Entry: Sendable {
    case command(Command)
    case events(PeerEvents)
  }

  private let entries = Mutex<[Entry]>([])

  func note(_ entry: Entry) { entries.withLock { $0.append(entry) } }

  func take() -> [Entry] {
    entries.withLock { entries in
      defer { entries = [] }
      return entries
    }
  }
}
