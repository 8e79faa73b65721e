internal import Glibc

/// The folder of one recording: its files are read and written by the server's user alone, and have names of the server's own.
package struct RecordingFolder: Sendable {
  package static let manifest = "manifest.json"
  private static let unfinished = ".manifest-unfinished"
  /// Room for the ends of files and the manifest where a disk has become full.
  private static let reserve = ".reserve"
  private static let reserved = 256 * 1_024

  package let path: String

  /// - Parameter path: of a folder that is made, or is there already.
  package init(_ path: String) { self.path = path }

  /// Makes the folder, and those that it lies in, for the server's user alone.
  /// - Parameter isLinkAllowed: it may be a link to a folder.
  func make(isLinkAllowed: Bool = false) throws(FileProblem) {
    var folders = [path]
    while let parent = Self.parent(of: folders[folders.count - 1]), access(parent, F_OK) != 0 {
      folders.append(parent)
    }
    for folder in folders.reversed() {
      if mkdir(folder, 0o700) == 0 {
        Self.parent(of: folder).map(Self.sync)
      } else if errno != EEXIST {
        throw FileProblem()
      }
    }
    var status = stat()
    // The folder of all recordings may be a link to another disk.
    let isThere = (isLinkAllowed ? stat(path, &status) : lstat(path, &status)) == 0
    guard isThere else { throw FileProblem() }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw FileProblem(ENOTDIR) }
  }

  /// The entries of a folder outlive the machine once it is synced itself.
  private static func sync(_ folder: String) {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  private static func parent(of path: String) -> String? {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return nil }
    return String(path[..<slash])
  }

  /// - Returns: the descriptor of a new file.
  func create(_ name: String) throws(FileProblem) -> Int32 {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let descriptor = open("\(path)/\(name)", flags, 0o600)
    guard descriptor >= 0 else { throw FileProblem() }
    return descriptor
  }

  /// What a file has by now outlives the machine; one that somebody has taken away is nothing of ours any more.
  func sync(_ name: String) throws(FileProblem) {
    let descriptor = open("\(path)/\(name)", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return }
      throw FileProblem()
    }
    defer { close(descriptor) }
    if fdatasync(descriptor) != 0 { throw FileProblem() }
  }

  // MARK: - The manifest

  /// Writes the manifest: it is there as a whole, or as it was.
  /// - Parameter isSynced: it outlives the machine, which may take long.
  func write(manifest bytes: [UInt8], isSynced: Bool = true) throws(FileProblem) {
    let (temporary, final) = ("\(path)/\(Self.unfinished)", "\(path)/\(Self.manifest)")
    unlink(temporary)
    let descriptor = try create(Self.unfinished)
    let isWritten = bytes.withUnsafeBytes { raw in
      var offset = 0
      while offset < raw.count {
        let count = Glibc.write(descriptor, raw.baseAddress! + offset, raw.count - offset)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        offset += count
      }
      return !isSynced || fdatasync(descriptor) == 0
    }
    let code = errno
    close(descriptor)
    guard isWritten else {
      unlink(temporary)
      throw FileProblem(code)
    }
    guard rename(temporary, final) == 0 else { throw FileProblem() }
    if isSynced { Self.sync(path) }
  }

  /// - Parameter most: bytes; a longer one is none of ours.
  func readManifest(most: Int) -> [UInt8]? {
    // Opening a pipe would block until its other end is opened.
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let descriptor = open("\(path)/\(Self.manifest)", flags)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= most else {
      return nil
    }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    return count == bytes.count ? bytes : nil
  }

  /// - Returns: nil where there is no such file.
  package func size(of name: String) -> Int? {
    var status = stat()
    guard lstat("\(path)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int(status.st_size)
  }

  /// The files of tracks that lie in it.
  var files: [String] { Self.list(path, S_IFREG).filter(RecordingManifest.isFileName) }

  // MARK: - Space

  /// Bytes that are free for the server's user; nil where that can't be known.
  var free: Int? {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return nil }
    return Int(
      clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
  }

  /// Keeps room for the end.
  func keepReserve() throws(FileProblem) {
    let descriptor = try create(Self.reserve)
    defer { close(descriptor) }
    let code = posix_fallocate(descriptor, 0, off_t(Self.reserved))
    guard code == 0 else {
      giveReserveBack()
      throw FileProblem(code)
    }
  }

  func giveReserveBack() { unlink("\(path)/\(Self.reserve)") }

  // MARK: - Erasing

  /// Removes the recording's files and its manifest. Files that the server didn't make stay, and the folder with them.
  func erase() throws(FileProblem) {
    let files = Self.list(path, S_IFREG, S_IFLNK).filter(RecordingManifest.isFileName)
    for name in files + [Self.unfinished, Self.reserve, Self.manifest] {
      if unlink("\(path)/\(name)") != 0, errno != ENOENT { throw FileProblem() }
    }
    if rmdir(path) != 0, errno != ENOENT, errno != ENOTEMPTY { throw FileProblem() }
  }

  /// Removes what is left of a recording that had no manifest yet.
  /// - Returns: false where there is something else in it, and the folder stays.
  func removeIfEmpty() -> Bool {
    // The manifest that is there makes it none of these.
    guard access("\(path)/\(Self.manifest)", F_OK) != 0, errno == ENOENT,
      Self.list(path, S_IFREG, S_IFLNK, S_IFDIR).isEmpty
    else { return false }
    giveReserveBack()
    unlink("\(path)/\(Self.unfinished)")
    return rmdir(path) == 0
  }

  /// Names of folders in a folder.
  static func list(_ path: String) -> [String] { list(path, S_IFDIR) }

  /// Names in a folder, of files of those types; without those that begin with a dot.
  private static func list(_ path: String, _ types: mode_t...) -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var found: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
      }
      var status = stat()
      if !name.hasPrefix("."), lstat("\(path)/\(name)", &status) == 0, types.contains(status.st_mode & S_IFMT)
      {
        found.append(name)
      }
    }
    return found.sorted()
  }
}
