internal import Synchronization

/// Reports that were asked for and have not come: at most one question a worker is under way, however many ask,
/// so that a worker that has stopped answering does not gather questions.
final class ReportDesk: Sendable {
  private typealias Waiting = CheckedContinuation<WorkerReport?, Never>

  private struct Desk {
    /// By worker, then by the number of the question.
    var waiting: [[UInt64: Waiting]]
    var isAsked: [Bool]
    var next: UInt64 = 0
  }

  private let bridge: Bridge
  private let desk: Mutex<Desk>

  init(_ bridge: Bridge) {
    self.bridge = bridge
    let count = bridge.workerCount
    desk = Mutex(
      Desk(waiting: Array(repeating: [:], count: count), isAsked: Array(repeating: false, count: count)))
  }

  /// - Returns: nil when the worker has ended, or does not answer in time.
  func report(of worker: Int, within patience: Duration) async -> WorkerReport? {
    await withCheckedContinuation { continuation in
      let (number, isFirst) = desk.withLock { desk in
        defer {
          desk.next += 1
          desk.isAsked[worker] = true
        }
        desk.waiting[worker][desk.next] = continuation
        return (desk.next, !desk.isAsked[worker])
      }
      Task {
        try await Task.sleep(for: patience)
        desk.withLock { $0.waiting[worker].removeValue(forKey: number) }?.resume(returning: nil)
      }
      guard isFirst else { return }
      if !bridge.report(worker: worker, { self.deliver($0, of: worker) }) { deliver(nil, of: worker) }
    }
  }

  private func deliver(_ report: WorkerReport?, of worker: Int) {
    let waiting = desk.withLock { desk in
      desk.isAsked[worker] = false
      defer { desk.waiting[worker] = [:] }
      return desk.waiting[worker].values
    }
    for continuation in waiting { continuation.resume(returning: report) }
  }
}
