internal import CSQLite
internal import Glibc
internal import Model

/// The right to a data directory, which one process has at a time. The kernel takes it back with the process, however that ends.
///
/// The file that is locked says who has it, for those who want it too: `process 4711 on media1, since 2026-11-27T02:01:00.000Z`.
public final class DirectoryLock: Sendable {
  private let descriptor: Int32
  /// Of what the file says that much is read.
  private static let mostBytes = 200

  /// Makes the directory where it is missing, for the server's user alone.
  /// - Throws: `inUse`, `cannotOpen`.
  public init(_ directory: String) throws(StoreError) {
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
      let problem = isTaken ? nil : Self.problem(with: directory, "it can't be locked")
      let holder = Self.holder(descriptor)
      Glibc.close(descriptor)
      throw problem ?? .inUse(directory, by: holder)
    }
    self.descriptor = descriptor
    writeHolder()
  }

  deinit {
    // Before the lock is free: no other is named by what stands here.
    _ = ftruncate(descriptor, 0)
    Glibc.close(descriptor)
  }

  // MARK: - Who has it

  /// The lock is what counts: where there is no room for the words, it is held without them.
  private func writeHolder() {
    let words = Array("process \(getpid()) on \(Self.host), since \(Self.now)\n".utf8)
    guard ftruncate(descriptor, 0) == 0 else { return }
    _ = pwrite(descriptor, words, words.count, 0)
  }

  /// - Returns: empty: it isn't known.
  private static func holder(_ descriptor: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: mostBytes)
    let count = pread(descriptor, &bytes, mostBytes, 0)
    return StoreError.words(String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self))
  }

  private static var host: String {
    var bytes = [CChar](repeating: 0, count: 256)
    // One byte less, so that what is cut has an end too.
    guard gethostname(&bytes, bytes.count - 1) == 0 else { return "this host" }
    return bytes.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
  }

  private static var now: String {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return WallTime(milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000).text
  }

  // MARK: - The directory

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
