internal import CSQLite
internal import Glibc

/// The right to a data directory, which one process has at a time. The kernel takes it back with the process, however that ends.
final class DirectoryLock {
  private let descriptor: Int32

  /// Makes the directory where it is missing, for the server's user alone.
  init(_ directory: String) throws(StoreError) {
    if mkdir(directory, 0o700) == 0 {
      Self.sync(Self.parent(of: directory))
    } else if errno != EEXIST {
      throw Self.problem(with: directory, "it can't be made")
    }
    let path = directory + "/roost.lock"
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.problem(with: directory, "it can't be written") }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let isTaken = errno == EWOULDBLOCK
      let problem = Self.problem(with: directory, "it can't be locked")
      Glibc.close(descriptor)
      throw isTaken ? .inUse(directory) : problem
    }
    self.descriptor = descriptor
  }

  deinit { Glibc.close(descriptor) }

  private static func problem(with directory: String, _ what: String) -> StoreError {
    .cannotOpen(
      "storage.directory \(directory): \(what): \(String(cString: strerror(errno))); give a directory that the server's user "
        + "may write")
  }

  private static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// A directory's entries are on the disk once it is synced itself.
  static func sync(_ directory: String) {
    let descriptor = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    Glibc.close(descriptor)
  }
}
