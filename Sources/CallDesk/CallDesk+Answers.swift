public import Calls
internal import Storage

/// Answers to requests that have a key of the client's, for when it asks again.
extension CallDesk {
  /// - Parameter content: what stands for all of the request, some bytes of it.
  /// - Returns: what was answered; nil: it wasn't asked before.
  /// - Throws: `idTaken`: something else was asked by that key.
  public func answer(
    to key: String, content: [UInt8], by person: PersonID
  ) async throws(CallProblem) -> [UInt8]? {
    try await read { transaction throws(StoreError) in
      switch try AnswerRecords.find(Self.name(of: key), content: content, by: person, transaction) {
      case .no: .success(nil)
      case .same(let body): .success(body)
      case .other: .failure(.idTaken)
      }
    }
  }

  /// Keeps an answer for a day.
  public func keep(
    _ answer: [UInt8], to key: String, content: [UInt8], by person: PersonID
  ) async throws(CallProblem) {
    try await decide(bytes: answer.count + 512) {
      transaction, _, now throws(StoreError) -> Result<Void, CallProblem> in
      try AnswerRecords.keep(
        answer, for: Self.name(of: key), content: content, by: person, at: now, transaction)
      return .success(())
    }
  }

  /// No id of a call or a signal is such a name.
  private static func name(of key: String) -> String { "key \(key)" }
}
