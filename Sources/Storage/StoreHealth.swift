/// Whether the database does what it is asked, by what became of the last reads and writes.
///
/// A full disk is read as ever, and takes a transaction that changes nothing: neither says that anything can be stored again.
struct StoreHealth {
  private var failedRead: StoreError?
  private var failedWrite: StoreError?

  /// Why it doesn't; nil: it does.
  var problem: StoreError? { failedWrite ?? failedRead }

  /// A read or a group of writes was tried.
  /// - Parameters:
  ///   - error: why it wasn't done; nil: it was.
  ///   - changed: whether it has changed anything.
  mutating func note(_ error: StoreError?, isWrite: Bool, changed: Bool) {
    if let error {
      if isWrite { failedWrite = error } else { failedRead = error }
      return
    }
    failedRead = nil
    if isWrite && changed || failedWrite?.isOfReach == true { failedWrite = nil }
  }
}

extension StoreError {
  /// It is over with the first thing that is done again, whatever that is.
  fileprivate var isOfReach: Bool {
    switch self {
    case .unreachable, .connectionLost, .cannotOpen, .inUse: true
    default: false
    }
  }
}
