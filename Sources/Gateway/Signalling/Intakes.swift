internal import Model
internal import Rooms
internal import Synchronization

/// The budgets of all who speak, by room and identity: another socket, or another session, goes on with the same one.
package final class Intakes: Sendable {
  private struct Payer: Hashable {
    let room: ExactName
    let identity: ExactName
  }

  /// One of several budgets that are charged for the same.
  struct Share: Sendable {
    let room: String
    /// It is charged one of so many parts.
    var parts = 1
  }

  /// A charge that is refused where the allowance is too small, or of what is read in any case.
  package struct Charge: Sendable {
    package let room: String
    package let identity: String
    /// As they are asked for, without what each costs beside.
    package let bytes: Int
    /// There was enough, or it is owed; else nothing is charged.
    package let isPaid: Bool
    /// It is of what was done already, and charged however little there was.
    package var isOwed = false
    /// It is charged one of so many parts of all that it costs.
    package var parts = 1
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

  /// As `charge`, of what is read in any case, and by each of some budgets: what is beyond `most` isn't owed.
  /// - Returns: how long it takes until nothing is owed, by each of them.
  func charge(
    _ bytes: Int, shares: [Share], identity: String, owingAtMost most: Duration, now: Instant
  ) -> [Duration] {
    let waits = table.withLock { table -> [Duration] in
      var waits: [Duration] = []
      for share in shares {
        let payer = Payer(room: ExactName(share.room), identity: ExactName(identity))
        let wait = table.use(payer, now: now) {
          $0.charge(bytes, parts: share.parts, owingAtMost: most, now: now)
        }
        waits.append(wait)
      }
      return waits
    }
    for share in shares {
      noted?(
        Charge(
          room: share.room, identity: identity, bytes: bytes, isPaid: true, isOwed: true, parts: share.parts))
    }
    return waits
  }

  /// As `take`, by each of some budgets: where one of them hasn't enough none is charged.
  /// - Returns: zero, or how long it takes until all have enough.
  func take(_ bytes: Int, shares: [Share], identity: String, now: Instant) -> Duration {
    let wait = table.withLock { table -> Duration in
      var wait = Duration.zero
      for share in shares {
        let payer = Payer(room: ExactName(share.room), identity: ExactName(identity))
        let own = table.use(payer, now: now) { $0.wait(for: bytes, parts: share.parts, now: now) }
        wait = max(wait, own)
      }
      guard wait == .zero else { return wait }
      for share in shares {
        table.use(Payer(room: ExactName(share.room), identity: ExactName(identity)), now: now) {
          $0.take(bytes, parts: share.parts, now: now)
        }
      }
      return wait
    }
    for share in shares {
      noted?(
        Charge(
          room: share.room, identity: identity, bytes: bytes, isPaid: wait == .zero, parts: share.parts))
    }
    return wait
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
