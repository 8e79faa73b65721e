/// What a store is still to do, in the order in which it was asked: a value, bounded in bytes.
struct StoreQueue: ~Copyable {
  /// A write or a read.
  struct Job: Sendable {
    let isWrite: Bool
    let bytes: Int
    /// Does it. What it returns says so to who waits, once it is on the disk.
    let perform: @Sendable (borrowing Transaction) throws(StoreError) -> @Sendable () -> Void
    let fail: @Sendable (StoreError) -> Void
  }

  /// Writes of one transaction at most, so that one that is in a hurry isn't behind all others.
  static let groupLimit = 1_024
  /// Jobs that wait, whatever their size.
  static let jobLimit = 65_536

  private let byteLimit: Int
  /// In order; what was taken is nil, and lies before `head`.
  private var jobs: [Job?] = []
  private var head = 0
  private var underWay: (jobs: Int, bytes: Int) = (0, 0)
  private var bytes = 0
  private(set) var isClosed = false

  /// - Parameter byteLimit: of all that waits; a single job may be larger.
  init(byteLimit: Int) { self.byteLimit = byteLimit }

  var waiting: (jobs: Int, bytes: Int) {
    (jobs.count - head + underWay.jobs, bytes + underWay.bytes)
  }

  /// - Returns: why it isn't taken; nil: it is.
  mutating func add(_ job: Job) -> StoreError? {
    guard !isClosed else { return .closed }
    let (count, waitingBytes) = waiting
    guard count == 0 || count < Self.jobLimit && waitingBytes + job.bytes <= byteLimit else {
      return .queueFull
    }
    jobs.append(job)
    bytes += job.bytes
    return nil
  }

  /// What is to be done next: one read, or the writes up to the next read, together.
  mutating func take() -> [Job] {
    var group: [Job] = []
    var size = 0
    while group.count < Self.groupLimit, head < jobs.count, let job = jobs[head] {
      guard job.isWrite || group.isEmpty else { break }
      group.append(job)
      size += job.bytes
      // Who waits for it is let go of with the job, not with the queue.
      jobs[head] = nil
      head += 1
      if !job.isWrite { break }
    }
    moveUp()
    bytes -= size
    underWay = (group.count, size)
    return group
  }

  /// What waits moves to the front once that is no more than what has gone from there: each job moves about once, however
  /// many wait.
  private mutating func moveUp() {
    guard head > 0, head >= jobs.count - head else { return }
    if head == jobs.count {
      jobs.removeAll(keepingCapacity: head <= Self.groupLimit)
    } else {
      jobs.removeFirst(head)
    }
    head = 0
  }

  /// What was taken last is done, or has failed.
  mutating func finish() { underWay = (0, 0) }

  mutating func close() { isClosed = true }
}
