public import Calls
public import KeyDirectory
public import KeyLog
internal import Model
internal import Storage

/// Which keys the devices of people have: what is published is so in one transaction with all that calls decide by it.
extension CallDesk {
  /// Publishes the key of a device of the caller's, in place of an earlier one. The same once more is answered as before.
  /// - Throws: `tooLarge`, where keys of as many devices are current as may be; `tooMany`, `storeUnavailable`; `notFound`: there is no
  ///   directory.
  public func publish(
    _ key: DeviceKey, of device: DeviceID, by caller: Caller
  ) async throws(CallProblem) -> KeyReceipt {
    try await append(key, device, by: caller)
  }

  /// Publishes that a device of the caller's has no key any more.
  /// - Throws: `notFound`: it never had one; `tooMany`, `storeUnavailable`.
  public func revokeKey(of device: DeviceID, by caller: Caller) async throws(CallProblem) -> KeyReceipt {
    try await append(nil, device, by: caller)
  }

  private func append(
    _ key: DeviceKey?, _ device: DeviceID, by caller: Caller
  ) async throws(CallProblem) -> KeyReceipt {
    try await decide(bytes: 4_096 + (key?.bytes.count ?? 0)) {
      [self] transaction, aftermath, now throws(StoreError) in
      guard let directory else { return .failure(.notFound) }
      // By it the entries of before would be found again.
      guard try ErasureRecords.find(caller.person, transaction) == nil else {
        return .failure(.tooMany(wait: 1_000))
      }
      let (person, name) = (caller.person.text, device.text)
      if try directory.grows(by: key, of: person, device: name, in: transaction),
        let wait = keyRates.wait(caller.person, at: now.steady)
      {
        return .failure(.tooMany(wait: wait))
      }
      let time = WallTime(milliseconds: now.wall)
      let done: Result<KeyReceipt, KeyRefusal> =
        if let key {
          try directory.append(key, of: person, device: name, at: time, in: transaction)
        } else {
          try directory.revoke(device: name, of: person, at: time, in: transaction)
        }
      if case .success(let receipt) = done, receipt.isNew {
        keyRates.count(caller.person, at: now.steady)
        aftermath.spent.append(.keys(caller.person, at: now.steady))
        try PersonRecords.note(caller, transaction)
        try tellKeyChanged(caller.person, and: [caller.person], at: now, &aftermath, transaction)
      }
      return done.mapError { CallProblem($0) }
    }
  }

  /// Those hear of it who are rung by a call that the person is of, or are in it: what they have wrapped is of no use any more.
  /// - Parameter listeners: who hears of it besides.
  func tellKeyChanged(
    _ person: PersonID, and listeners: Set<PersonID> = [], at now: CallTime, _ aftermath: inout Aftermath,
    _ transaction: borrowing Transaction
  ) throws(StoreError) {
    var listeners = listeners
    for row in try CallRecords.open(of: person, terms: callTerms, transaction).values {
      guard row.state[person]?.leaveReason != .removed else { continue }
      for other in row.state.people where !other.isHidden && other.leaveReason == nil && other.id != person {
        listeners.insert(other.id)
      }
    }
    for listener in listeners.sorted() {
      try tell(
        listener, .keyChanged, of: nil, KeyChangedBody(person: person), at: now, &aftermath, transaction)
    }
  }

  // MARK: - Reading

  /// - Parameter head: the size of a head that the reader has.
  /// - Throws: `noSuchHead`, `storeUnavailable`; `notFound`: there is no directory.
  public func keys(of person: PersonID, from head: Int?) async throws(CallProblem) -> KeyAnswer {
    try await readKeys { directory, time, transaction throws(StoreError) in
      try directory.currentKeys(of: person.text, from: head, at: time, in: transaction)
    }
  }

  /// All entries of a person, the newest first.
  /// - Parameters:
  ///   - leaf: what `next` of the page before says; nil: it is the first page.
  ///   - limit: 1–200.
  public func keyHistory(
    of person: PersonID, before leaf: Int?, limit: Int
  ) async throws(CallProblem) -> KeyHistory {
    try await readKeys { directory, time, transaction throws(StoreError) in
      .success(
        try directory.history(of: person.text, before: leaf, limit: limit, at: time, in: transaction))
    }
  }

  public func keyHead() async throws(CallProblem) -> SignedHead {
    try await readKeys { directory, time, transaction throws(StoreError) in
      .success(try directory.head(at: time, in: transaction))
    }
  }

  /// What shows that the log of one size follows that of another.
  /// - Throws: `noSuchHead`.
  public func keyConsistency(from old: Int, to new: Int) async throws(CallProblem) -> [MerkleHash] {
    try await readKeys { directory, _, transaction throws(StoreError) in
      try directory.consistency(from: old, to: new, in: transaction)
    }
  }

  /// By which clients know the log: SubjectPublicKeyInfo in DER; nil: there is no directory.
  public var logKey: [UInt8]? { directory?.publicKey }

  private func readKeys<Value: Sendable>(
    _ body:
      @escaping @Sendable (KeyDirectory, WallTime, borrowing Transaction) throws(StoreError) -> Result<
        Value, KeyRefusal
      >
  ) async throws(CallProblem) -> Value {
    guard let directory else { throw .notFound }
    return try await read { [clock] transaction throws(StoreError) in
      try body(directory, WallTime(milliseconds: clock().wall), transaction).mapError { CallProblem($0) }
    }
  }
}

extension CallProblem {
  public init(_ refusal: KeyRefusal) {
    self =
      switch refusal {
      case .badName, .badKey: .badKey("\(refusal)")
      case .tooLarge: .tooLarge("key")
      case .tooManyDevices: .tooLarge("devices")
      case .unknownDevice: .notFound
      case .noSuchHead(_, let size): .noSuchHead(size: size)
      case .logFull: .tooLarge("log")
      }
  }
}
