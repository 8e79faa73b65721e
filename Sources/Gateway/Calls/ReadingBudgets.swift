internal import Calls
internal import Model

/// What those who read a person's events owe for what they have read: how long it takes until that has come.
struct ReadingDebt: Equatable, Sendable {
  /// By the budget of the device.
  var ofDevice = Duration.zero
  /// By that of all devices of the person together.
  var ofPerson = Duration.zero
}

/// What is read of people's events is paid apart from what they ask, whether as it happens or page by page: what others have them hear
/// keeps no one from answering a ring, from declining it or from leaving. Each device has a budget of its own, so that one that reads much
/// takes nothing from the others; all of a person's together have one as well, which is `devices` times as large.
struct ReadingBudgets: Sendable {
  /// So many devices of one person read as much as they may at once: of all that a read costs the person's budget has one of so many parts.
  static let devices = 8
  /// More isn't owed: what is behind that was read, and is forgiven. A page waits for that and for what it costs itself.
  static let mostOwed = Duration.seconds(1)

  /// Charges for so many bytes that were read. A device is nil where it isn't known.
  let charge: @Sendable (_ bytes: Int, _ person: PersonID, _ device: DeviceID?) -> ReadingDebt
  /// Charges for so many bytes before they are read and returns zero, or charges nothing, neither to the device nor to the person, and
  /// says how long it takes until there are as many.
  let take: @Sendable (_ bytes: Int, _ person: PersonID, _ device: DeviceID?) -> Duration
}

extension ReadingBudgets {
  /// No room is named by a character of control, nor is a device.
  private static let ofPerson = "\n"

  /// That of a device, and that of all of the person's.
  private static func shares(of device: DeviceID?) -> [Intakes.Share] {
    [
      Intakes.Share(room: ofPerson + (device?.text ?? ofPerson)),
      Intakes.Share(room: ofPerson, parts: devices),
    ]
  }

  /// - Parameter instant: by a clock that is never stepped.
  init(_ intakes: Intakes, instant: @escaping @Sendable () -> Instant) {
    charge = { bytes, person, device in
      let waits = intakes.charge(
        bytes, shares: Self.shares(of: device), identity: person.text, owingAtMost: Self.mostOwed,
        now: instant())
      return ReadingDebt(ofDevice: waits[0], ofPerson: waits[1])
    }
    take = { bytes, person, device in
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.pagesReadForNothing) { return .zero }
      #endif
      return intakes.take(bytes, shares: Self.shares(of: device), identity: person.text, now: instant())
    }
  }
}

/// When a stream of events reads on, by what is owed for what it has read.
///
/// What comes is behind by a second at most for that, however much comes: a stream that has been held back for so long reads all that there
/// is by then. Only where the person's devices together have read more than all of them may, each reads one batch, and is held back again.
struct ReadingPace: Sendable {
  static let patience = Duration.seconds(1)

  /// Since when something may have waited to be read; nil: nothing is owed.
  private var heldSince: Instant?

  /// - Parameter isMore: there was more than was read at once.
  mutating func next(owing debt: ReadingDebt, isMore: Bool, now: Instant) -> Instant {
    let wait = min(max(debt.ofDevice, debt.ofPerson), Self.patience)
    guard wait > .zero else {
      heldSince = nil
      return now
    }
    // Behind all that there was, what comes waits from now on.
    let since = isMore && debt.ofPerson == .zero ? heldSince ?? now : now
    heldSince = since
    return min(now + wait, since + Self.patience)
  }
}
