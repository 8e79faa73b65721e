internal import Glibc

/// Copies of SQLite's file from before migrations, beside it: `roost.db.v6` has what was there in version 6.
///
/// One is made under another name, synced, and then renamed: what has the name is whole. None is ever written over. Where the last one
/// of that version is the same, byte for byte, the new one is let go of, so that a start that fails again and again doesn't fill the
/// disk; where it isn't, as behind a backup that was restored, the new one becomes `roost.db.v6.2`, and so on.
enum SQLiteCopy {
  /// Copies of one version.
  private static let most = 100
  private static let chunk = 65_536

  /// - Parameters:
  ///   - path: of the database.
  ///   - directory: in which it lies.
  ///   - fill: writes all that is in the database into an empty file.
  static func make(
    of path: String, version: Int, in directory: String, _ fill: (String) throws(StoreError) -> Void
  ) throws(StoreError) {
    let target = "\(path).v\(version)"
    let temporary = target + ".part"
    do throws(StoreError) {
      // What a start before this one hasn't finished.
      unlink(temporary)
      unlink(temporary + "-journal")
      try makeEmpty(temporary)
      try fill(temporary)
      try sync(temporary)
      try settle(temporary, as: target)
    } catch {
      unlink(temporary)
      throw .cannotOpen(
        "\(path) has schema version \(version), and can't be copied to \(target) before it is brought up to date: \(error); make room "
          + "beside it for another one of its size, or start the version again that has written it")
    }
    DirectoryLock.sync(directory)
  }

  /// Before SQLite does, which would let others read it.
  private static func makeEmpty(_ path: String) throws(StoreError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw problem(path) }
    close(descriptor)
  }

  private static func sync(_ path: String) throws(StoreError) {
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { throw problem(path) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw problem(path) }
  }

  /// Gives it the first name that is free, unless the last that isn't has the same already. The directory is locked: no other does
  /// this meanwhile.
  private static func settle(_ temporary: String, as target: String) throws(StoreError) {
    var last: String?
    for number in 1...most {
      let name = number == 1 ? target : "\(target).\(number)"
      if access(name, F_OK) == 0 {
        last = name
        continue
      }
      if let last, isSame(last, temporary) {
        unlink(temporary)
        return
      }
      guard rename(temporary, name) == 0 else { throw problem(name) }
      return
    }
    throw .failed("there are \(most) copies of that version; move them away")
  }

  /// One that can't be read is another.
  private static func isSame(_ one: String, _ other: String) -> Bool {
    let first = open(one, O_RDONLY | O_CLOEXEC)
    guard first >= 0 else { return false }
    defer { close(first) }
    let second = open(other, O_RDONLY | O_CLOEXEC)
    guard second >= 0 else { return false }
    defer { close(second) }
    while true {
      guard let left = next(first), let right = next(second), left == right else { return false }
      if left.isEmpty { return true }
    }
  }

  /// - Returns: empty: that was all; nil: it can't be read.
  private static func next(_ descriptor: Int32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: chunk)
    let count = read(descriptor, &bytes, chunk)
    return count < 0 ? nil : Array(bytes.prefix(count))
  }

  private static func problem(_ path: String) -> StoreError {
    errno == ENOSPC
      ? .diskFull("\(path): \(String(cString: strerror(errno)))")
      : .failed("\(path): \(String(cString: strerror(errno)))")
  }
}
