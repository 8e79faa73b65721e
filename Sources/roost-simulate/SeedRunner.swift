internal import Glibc
internal import Simulation
internal import Synchronization

/// Runs conferences on several threads, each seed on one of them from beginning to end, and hands the outcomes
/// on in the order of the seeds.
final class SeedRunner: Sendable {
  enum Result: Sendable {
    case finished(Conference.Outcome)
    case impossible(seed: UInt64, reason: String)
  }

  private struct State {
    var nextToRun: UInt64
    var nextToTell: UInt64
    var waiting: [UInt64: Result] = [:]
    var isOver = false
  }

  private let state: Mutex<State>
  private let end: UInt64
  private let options: Conference.Options
  private let tell: @Sendable (Result) -> Bool

  /// - Parameter tell: called once a seed, in order, by one thread at a time; false: it is enough.
  init(
    seeds: Range<UInt64>, options: Conference.Options, tell: @escaping @Sendable (Result) -> Bool
  ) {
    state = Mutex(State(nextToRun: seeds.lowerBound, nextToTell: seeds.lowerBound))
    end = seeds.upperBound
    self.options = options
    self.tell = tell
  }

  /// Returns when all seeds are done.
  func run(threads: Int) {
    var handles: [pthread_t] = []
    for _ in 0..<threads {
      var handle = pthread_t()
      let context = Unmanaged.passRetained(self).toOpaque()
      guard pthread_create(&handle, nil, runSeeds, context) == 0 else {
        Unmanaged<SeedRunner>.fromOpaque(context).release()
        continue
      }
      handles.append(handle)
    }
    // Not one thread to be had: this one does it.
    if handles.isEmpty { work() }
    for handle in handles { pthread_join(handle, nil) }
  }

  fileprivate func work() {
    while let seed = take() {
      let result: Result
      do {
        result = .finished(try Conference.runAll(seed: seed, options: options))
      } catch {
        result = .impossible(seed: seed, reason: "\(error)")
      }
      state.withLock { state in
        state.waiting[seed] = result
        while let next = state.waiting.removeValue(forKey: state.nextToTell) {
          state.nextToTell += 1
          guard !state.isOver else { continue }
          if !tell(next) {
            state.isOver = true
            state.nextToRun = end
          }
        }
      }
    }
  }

  private func take() -> UInt64? {
    state.withLock { state in
      guard state.nextToRun < end else { return nil }
      defer { state.nextToRun += 1 }
      return state.nextToRun
    }
  }
}

/// Apart from any actor: C calls it on the new thread.
private func runSeeds(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  Unmanaged<SeedRunner>.fromOpaque(context).takeRetainedValue().work()
  return nil
}
