internal import Synchronization

#if PLANTED_DEFECTS
  internal import Model
#endif

/// How many records of sessions that failed are on their way to a file: a network that breaks ends thousands of sessions at once, and each
/// has up to 512 KiB.
public final class FlightOutlet: Sendable {
  /// Records at once, 8 MiB.
  public static let limit = 16

  private let isOpen = Atomic<Bool>(false)
  private let underWay = Atomic<Int>(0)
  private let refused = Atomic<UInt64>(0)

  /// Those that were not kept because of the bound.
  public var skipped: UInt64 { refused.load(ordering: .relaxed) }
  var waiting: Int { underWay.load(ordering: .relaxed) }

  /// There is a place for them from now on.
  func open() { isOpen.store(true, ordering: .relaxed) }

  /// - Returns: false where no record is wanted.
  func take() -> Bool {
    guard isOpen.load(ordering: .relaxed) else { return false }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.flightsUnbounded) { return true }
    #endif
    guard underWay.wrappingAdd(1, ordering: .relaxed).newValue <= Self.limit else {
      underWay.wrappingSubtract(1, ordering: .relaxed)
      refused.wrappingAdd(1, ordering: .relaxed)
      return false
    }
    return true
  }

  /// One is written, or given up.
  func give() { underWay.wrappingSubtract(1, ordering: .relaxed) }
}
