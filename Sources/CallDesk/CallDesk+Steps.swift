internal import Calls
internal import Storage

/// Steps of calls that outsiders hear of: written down with what was decided, until they are said where they can't be lost.
extension CallDesk {
  func note(
    _ step: Aftermath.Step, at now: CallTime, _ aftermath: inout Aftermath,
    _ transaction: borrowing Transaction
  ) throws(StoreError) {
    aftermath.steps.append(step)
    try StepRecords.keep(step, at: now, transaction)
  }

  /// What the process before has decided and not said, in its order; each call as it stands now.
  public func unsaidSteps() async throws(CallProblem) -> [Aftermath.Step] {
    try await read { [self] transaction throws(StoreError) in
      .success(try StepRecords.all(terms: callTerms, sessions: terms.sessions, transaction))
    }
  }

  /// They are said, and outlive the process there.
  public func forget(_ steps: [Aftermath.Step]) async throws(CallProblem) {
    try await decide(bytes: 64 * steps.count) {
      transaction, _, _ throws(StoreError) -> Result<Void, CallProblem> in
      for step in steps { try StepRecords.forget(step, transaction) }
      return .success(())
    }
  }
}
