internal import Model
internal import Rooms
internal import Synchronization

/// The budgets of all who speak, by room and identity: another socket, or another session, goes on with the same one.
package final class Intakes: Sendable {
  private struct Payer: Hashable {
    let room: ExactName
    let identity: ExactName
  }

  /// A charge that is refused where the allowance is too small.
  package struct Charge: Sendable {
    package let room: String
    package let identity: String
    /// As they are asked for, without what each costs beside.
    package let bytes: Int
    /// There was enough, or it is owed; else nothing is charged.
    package let isPaid: Bool
    /// It is of what was done already, and charged however little there was.
    package var isOwed = false
  }

  private let table = Mutex(AllowanceTable<Payer, IntakeBudget>(capacity: 16_384))
  private let noted: (@Sendable (Charge) -> Void)?

  /// - Parameter noted: called with each charge; nil: they are nothing to anyone.
  package init(noting noted: (@Sendable (Charge) -> Void)? = nil) { self.noted = noted }

  /// - Returns: how long the message's reader waits before it reads it.
  func charge(_ bytes: Int, room: String, identity: String, now: Instant) -> Duration {
    table.withLock { table in
      table.use(Payer(room: ExactName(room), identity: ExactName(identity)), now: now) {
        $0.charge(bytes, now: now)
      }
    }
  }

  /// As `charge`, of what is read in any case: where so much is owed already nothing is added to it.
  /// - Returns: how long it takes until nothing is owed.
  func charge(
    _ bytes: Int, room: String, identity: String, owingAtMost most: Duration, now: Instant
  ) -> Duration {
    table.withLock { table in
      table.use(Payer(room: ExactName(room), identity: ExactName(identity)), now: now) {
        $0.charge(bytes, owingAtMost: most, now: now)
      }
    }
  }

  /// As `charge`, of what is refused where there isn't enough; then nothing is charged.
  /// - Returns: zero, or how long it takes until there is enough.
  func take(_ bytes: Int, room: String, identity: String, now: Instant) -> Duration {
    let wait = table.withLock { table in
      table.use(Payer(room: ExactName(room), identity: ExactName(identity)), now: now) {
        $0.take(bytes, now: now)
      }
    }
    noted?(Charge(room: room, identity: identity, bytes: bytes, isPaid: wait == .zero))
    return wait
  }

  /// Charges for what is done already, and turned out to be more than was paid before. What isn't there is owed: nothing is taken until it
  /// has come.
  func owe(_ bytes: Int, room: String, identity: String, now: Instant) {
    table.withLock { table in
      table.use(Payer(room: ExactName(room), identity: ExactName(identity)), now: now) {
        $0.owe(bytes, now: now)
      }
    }
    noted?(Charge(room: room, identity: identity, bytes: bytes, isPaid: true, isOwed: true))
  }
}
