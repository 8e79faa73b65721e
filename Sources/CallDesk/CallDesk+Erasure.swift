public import Calls
internal import KeyDirectory
internal import Storage

/// People who are forgotten. What shows them goes at once, and what is much some at a time, each in a transaction of its own with the
/// work of others between; a server that was killed goes on with it as it starts.
extension CallDesk {
  /// Forgets what is known of a person: devices, blocks, events, keys and the name. Calls stay in the histories of others, and the
  /// log of keys as it is. The name comes back by a token that is issued later, and by none of before.
  ///
  /// All that is there goes, also what has a time ahead of now, and nothing that comes meanwhile. It returns once nothing is left. Where
  /// a failure or the end of the process comes in between, `tidy` goes on with it.
  public func erase(_ person: PersonID) async throws(CallProblem) {
    try await beginErasing(person)
    while try await eraseSome(of: person) {}
  }

  /// From now on nothing of the person is shown or given to anyone. Each of these has a bound: devices, keys that hold, the person's
  /// own blocks.
  func beginErasing(_ person: PersonID) async throws(CallProblem) {
    try await decide {
      [self] transaction, aftermath, now throws(StoreError) -> Result<Void, CallProblem> in
      if try directory?.beginErasing(person.text, in: transaction) == true {
        try tellKeyChanged(person, at: now, &aftermath, transaction)
      }
      for device in try DeviceRecords.erase(person, transaction) {
        aftermath.devicesGone.append((person, device))
      }
      try BlockRecords.eraseOwn(of: person, transaction)
      let last = try PersonRecords.erase(person, at: now, transaction)
      try ErasureRecords.begin(person, upTo: last, at: now, transaction)
      return .success(())
    }
    heard.forget(person)
  }

  /// Takes away some of what is left of a person.
  /// - Parameter person: nil: of the one whose erasure began first.
  /// - Returns: whether there may be more.
  func eraseSome(of person: PersonID?) async throws(CallProblem) -> Bool {
    try await decide {
      [self] transaction, _, _ throws(StoreError) -> Result<Bool, CallProblem> in
      let found =
        if let person {
          try ErasureRecords.find(person, transaction)
        } else {
          try ErasureRecords.first(transaction)
        }
      guard let erasure = found else { return .success(false) }
      if try eraseSome(erasure, transaction) { return .success(true) }
      try ErasureRecords.end(erasure, transaction)
      return .success(person == nil)
    }
  }

  /// - Returns: whether there may be more.
  private func eraseSome(
    _ erasure: ErasureRecords.Erasure, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Bool {
    var portion = Portion()
    try EventRecords.erase(erasure, &portion, transaction)
    try AnswerRecords.erase(erasure, &portion, transaction)
    try DeliveryRecords.erase(erasure, &portion, transaction)
    try BlockRecords.erase(erasure, &portion, transaction)
    try CallKeyRecords.erase(erasure, &portion, transaction)
    if portion.isMore { return true }
    let limit = portion.limit
    return try directory?.eraseEntries(of: erasure.person.text, limit: limit, in: transaction) == limit
  }
}
