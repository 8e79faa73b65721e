internal import Glibc
internal import Synchronization

/// A file that is open for as long as somebody has it: the thread that writes it, and the one that has it outlive the machine.
final class OpenFile: Sendable {
  let descriptor: Int32
  private let isAsked = Atomic<Bool>(false)

  /// - Parameter descriptor: is closed with this.
  init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// - Returns: false where somebody has asked for a sync that has yet to begin, and that has this, too.
  func askForSync() -> Bool { !isAsked.exchange(true, ordering: .sequentiallyConsistent) }

  /// What was written by now outlives the machine.
  func sync() throws(FileProblem) {
    isAsked.store(false, ordering: .sequentiallyConsistent)
    if fdatasync(descriptor) != 0 { throw FileProblem() }
  }
}
