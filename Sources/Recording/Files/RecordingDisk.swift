internal import Model
internal import Synchronization

/// What a recording has on a disk: its folder and, on a thread of its own, everything there that may take long.
final class RecordingDisk: Sendable {
  private struct State {
    var problem: FileProblem?
    var free: Int?
    var isBusy = false
    /// Files whose sync waits, which covers everything that they have until then.
    var syncing: Set<String> = []
  }

  let folder: RecordingFolder
  private let thread: DiskThread
  private let state = Mutex(State())

  init(_ folder: RecordingFolder, _ thread: DiskThread) {
    self.folder = folder
    self.thread = thread
  }

  /// The first thing that went wrong.
  var problem: FileProblem? { state.withLock { $0.problem } }
  /// Bytes that were free when it last looked; nil where that isn't known.
  var free: Int? { state.withLock { $0.free } }

  private func attempt(_ body: () throws(FileProblem) -> Void) {
    do throws(FileProblem) { try body() } catch {
      state.withLock { $0.problem = $0.problem ?? error }
    }
  }

  /// Has what a file has by now outlive the machine. It needn't stay open for that.
  func sync(_ name: String) {
    guard state.withLock({ $0.syncing.insert(name).inserted }) else { return }
    thread.perform { [self] in
      _ = state.withLock { $0.syncing.remove(name) }
      attempt { () throws(FileProblem) in try folder.sync(name) }
    }
  }

  /// Looks how much is free, and writes the manifest if there is one.
  /// - Returns: false where it is still at the one before, and nothing is done.
  func keep(_ manifest: RecordingManifest?) -> Bool {
    let mayBegin = state.withLock { state in
      defer { state.isBusy = true }
      return !state.isBusy
    }
    guard mayBegin else { return false }
    thread.perform { [self] in
      if let manifest {
        attempt { () throws(FileProblem) in try folder.write(manifest: manifest.json) }
      }
      let free = folder.free
      state.withLock { ($0.free, $0.isBusy) = (free, false) }
    }
    return true
  }

  /// Writes the last manifest, behind everything else. What went wrong until then with files is its reason.
  /// - Parameter cause: what it ends for.
  func finish(
    _ manifest: RecordingManifest, after cause: FileProblem?,
    then: @escaping @Sendable (RecordingEnding) -> Void
  ) {
    thread.perform { [self] in
      var last = manifest
      if let problem { last.note(problem) }
      var isWritten = true
      do throws(FileProblem) { try folder.write(manifest: last.json) } catch {
        isWritten = false
        state.withLock { $0.problem = $0.problem ?? error }
      }
      then(RecordingEnding(manifest: last, isWritten: isWritten, problem: cause ?? problem))
    }
  }

  /// A disk that was full has room again; anything else stays wrong.
  func forgetFull() { state.withLock { if $0.problem?.isFull ?? false { $0.problem = nil } } }
}

extension RecordingManifest {
  /// Why it has ended, where its files aren't as they should be; a reason that says so already stays.
  mutating func note(_ problem: FileProblem) {
    guard reason != .diskFull, reason != .storageFailed else { return }
    reason = problem.isFull ? .diskFull : .storageFailed
  }
}
