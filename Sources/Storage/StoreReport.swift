/// What a store has done and has before it, for the operator.
public struct StoreReport: Equatable, Sendable {
  /// Writes and reads that wait, the ones that are under way among them, and about how many bytes they have.
  public var waiting = 0
  public var waitingBytes = 0
  /// Whether what was tried last was done: of writes the last one that had something to change, whatever could be read since.
  public var isUp = true
  public var writes: UInt64 = 0
  public var reads: UInt64 = 0
  /// Groups of writes that are on the disk: each was synced once.
  public var syncs: UInt64 = 0
  /// What the groups took, from their beginning until they were synced.
  public var syncTime = Duration.zero
  /// Writes and reads that failed, by `StoreError.reason`.
  public var failures: [String: UInt64] = [:]

  public init() {}
}
