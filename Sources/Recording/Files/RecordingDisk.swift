internal import Synchronization

/// What a recording has on a disk: its folder and, on a thread of its own, everything there that may take long.
final class RecordingDisk: Sendable {
  private struct State {
    var problem: FileProblem?
    var free: Int?
    var isBusy = false
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

  /// Has what a file has by now outlive the machine.
  func sync(_ file: OpenFile) {
    guard file.askForSync() else { return }
    thread.perform { [self] in attempt { () throws(FileProblem) in try file.sync() } }
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

  /// Writes the last manifest, behind everything else.
  /// - Parameter then: gets the first thing that goes wrong from here on; nil: all is written.
  func finish(_ manifest: RecordingManifest, then: @escaping @Sendable (FileProblem?) -> Void) {
    thread.perform { [self] in
      attempt { () throws(FileProblem) in try folder.write(manifest: manifest.json) }
      then(problem)
    }
  }

  /// What went wrong so far is dealt with.
  func forgetProblem() { state.withLock { $0.problem = nil } }
}
