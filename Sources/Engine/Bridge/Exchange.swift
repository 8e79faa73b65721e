internal import Model
internal import Polling
internal import Synchronization

/// All ways between the workers of one engine: a mailbox each, and a ring from each to each other.
final class Exchange: Sendable {
  /// Bytes of one ring: about 3,000 full packets.
  static let ringSize = 4 * 1_024 * 1_024
  static let messageLimit = 16_384

  let count: Int
  let mailboxes: [Mailbox<WorkerMessage>]
  /// `rings[to][from]`; empty on the diagonal.
  private let rings: [[CrossingRing]]

  /// - Parameters:
  ///   - count: of workers.
  ///   - wake: tells a worker that something came for it; called on any thread.
  init(count: Int, ringSize: Int = Exchange.ringSize, wake: @escaping @Sendable (Int) -> Void) {
    self.count = count
    mailboxes = (0..<count).map { worker in
      Mailbox(limit: Self.messageLimit, wake: { wake(worker) })
    }
    rings = (0..<count).map { to in
      (0..<count).map { from in
        CrossingRing(
          size: to == from ? 0 : ringSize, headerSize: MemoryLayout<Crossing>.stride)
      }
    }
  }

  deinit { for row in rings { for ring in row { ring.deallocate() } } }

  func ring(to: Int, from: Int) -> CrossingRing { rings[to][from] }

  // MARK: - Fragments

  /// Every fragment of every home. Looked into before a home is asked about a check, so that a stranger that makes fragments
  /// up can't fill the table of checks that wait; never on the way of media.
  private let fragments = Mutex<Set<UfragKey>>([])

  func isKnown(_ ufrag: UfragKey) -> Bool { fragments.withLock { $0.contains(ufrag) } }
  func insert(_ ufrag: UfragKey) { fragments.withLock { _ = $0.insert(ufrag) } }
  func remove(_ ufrag: UfragKey) { fragments.withLock { _ = $0.remove(ufrag) } }
  var fragmentCount: Int { fragments.withLock { $0.count } }
}
