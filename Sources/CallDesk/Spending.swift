internal import Calls

/// What a decision has taken of a person's budget. Where the store then refuses it, or it is made once more, that is given back: with a full
/// disk people hear that nothing can be stored, and not that they ask too often.
enum Spending: Sendable {
  case calls(CallRates.Count)
  /// Times are on the clock that doesn't jump.
  case changes(PersonID, at: Int64)
  case keys(PersonID, at: Int64)
  case rounds(PersonID, at: Int64)
}
