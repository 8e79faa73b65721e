internal import Calls
internal import Synchronization

#if PLANTED_DEFECTS
  internal import Model
#endif

/// What a decision has taken of a person's budget. Where the store then refuses it, or it is made once more, that is given back: with a full
/// disk people hear that nothing can be stored, and not that they ask too often.
enum Spending: Sendable {
  case calls(CallRates.Count)
  /// Times are on the clock that doesn't jump.
  case changes(PersonID, at: Int64)
  case keys(PersonID, at: Int64)
  case rounds(PersonID, at: Int64)
}

extension CallDesk {
  func giveBack(_ spent: [Spending]) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.spendingKept) { return }
    #endif
    for each in spent {
      switch each {
      case .calls(let count): rates.withLock { $0.giveBack(count) }
      case .changes(let person, let time): changeRates.giveBack(person, at: time)
      case .keys(let person, let time): keyRates.giveBack(person, at: time)
      case .rounds(let person, let time): roundRates.giveBack(person, at: time)
      }
    }
  }
}
