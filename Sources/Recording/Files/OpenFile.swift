internal import Glibc
internal import Synchronization

/// A file that stays open while the recorder's thread writes it or the disk's thread syncs it.
final class OpenFile: Sendable {
  let descriptor: Int32
  private let isAsked = Atomic<Bool>(false)

  /// - Parameter descriptor: is closed with this.
  init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// - Returns: false if a sync is pending already, which covers this one.
  func askForSync() -> Bool { !isAsked.exchange(true, ordering: .sequentiallyConsistent) }

  /// What was written by now outlives the machine.
  func sync() throws(FileProblem) {
    isAsked.store(false, ordering: .sequentiallyConsistent)
    if fdatasync(descriptor) != 0 { throw FileProblem() }
  }
}
