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
    try await read { [self] transaction throws(StoreError) in
      switch try keptAnswer(to: Self.name(of: key), content: content, by: person, transaction) {
      case .no: .success(nil)
      case .same(let body): .success(body)
      case .other: .failure(.idTaken)
      }
    }
  }

  /// Keeps an answer for a day, or until the person has so many newer ones that it is one too many.
  public func keep(
    _ answer: [UInt8], to key: String, content: [UInt8], by person: PersonID
  ) async throws(CallProblem) {
    try await decide(bytes: answer.count + 512) {
      [self] transaction, _, now throws(StoreError) -> Result<Void, CallProblem> in
      try keepAnswer(answer, to: Self.name(of: key), content: content, by: person, at: now, transaction)
      return .success(())
    }
  }

  /// Keeps what a request was answered by, and of the person's answers the last ones.
  func keepAnswer(
    _ body: [UInt8], to request: String, content: [UInt8], by person: PersonID, at now: CallTime,
    _ transaction: borrowing Transaction
  ) throws(StoreError) {
    try AnswerRecords.keep(body, for: request, content: content, by: person, at: now, transaction)
    if answerTurns.take(person) {
      try AnswerRecords.forget(of: person, beyond: terms.answers.ofPerson, transaction)
    }
  }

  /// Of what was refused nothing is kept: it is asked once more.
  func keepAnswer<Answer: Sendable>(
    _ answer: Answer, of request: KeyedRequest<Answer>, at now: CallTime, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    guard let body = request.body(answer) else { return }
    try keepAnswer(
      body, to: Self.name(of: request.key), content: request.content, by: request.person, at: now, transaction
    )
  }

  /// No id of a call or a signal is such a name.
  static func name(of key: String) -> String { "key \(key)" }
}
