internal import Glibc
internal import Model
internal import Synchronization

/// A directory of capture files, of which the oldest make room for the newest. Files with other names are left alone.
final class FlightDirectory: Sendable {
  private struct File {
    var name: String
    var size: Int
  }

  static let prefix = "flight-"
  static let suffix = ".pcapng"
  /// What is being written.
  private static let unfinished = ".flight-unfinished"

  private let path: String
  private let limit: (files: Int, bytes: Int)
  /// The oldest first.
  private let files: Mutex<[File]>

  init(_ path: String, files: Int, bytes: Int) {
    self.path = path
    limit = (files, bytes)
    self.files = Mutex(Self.list(path))
  }

  /// Files and their bytes.
  var kept: (files: Int, bytes: Int) { files.withLock { ($0.count, $0.reduce(0) { $0 + $1.size }) } }

  /// Why nothing can be written there; nil: it can.
  func problem() -> String? {
    var status = stat()
    guard stat(path, &status) == 0 else { return Self.text(errno) }
    guard status.st_mode & S_IFMT == S_IFDIR else { return Self.text(ENOTDIR) }
    return access(path, W_OK | X_OK) == 0 ? nil : Self.text(errno)
  }

  /// By its time first, so that names stand in the order of time; nothing in it is as a stranger said it.
  static func name(at time: WallTime, _ name: String, reason: String) -> String {
    let plain = { (text: String) in
      String(
        text.unicodeScalars.prefix(64).map { scalar in
          switch scalar {
          case "0"..."9", "A"..."Z", "a"..."z", "_", ".": Character(scalar)
          default: "-"
          }
        })
    }
    return prefix + plain(time.text) + "-" + plain(name) + "-" + plain(reason) + suffix
  }

  /// Writes a file; it has its name once all of it is there.
  /// - Returns: why it can't be; nil: it is there.
  func write(_ bytes: [UInt8], as name: String) -> String? {
    files.withLock { files -> String? in
      guard bytes.count <= limit.bytes else { return "larger than all files may be together" }
      makeRoom(for: bytes.count, &files)
      let (temporary, final) = ("\(path)/\(Self.unfinished)", "\(path)/\(name)")
      // What an earlier process left, whatever it is.
      unlink(temporary)
      let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { return Self.text(errno) }
      if let code = Self.writeAll(bytes, to: descriptor) {
        close(descriptor)
        unlink(temporary)
        return Self.text(code)
      }
      // A disk may say only now that it is full.
      guard close(descriptor) == 0, rename(temporary, final) == 0 else {
        let code = errno
        unlink(temporary)
        return Self.text(code)
      }
      files.removeAll { $0.name == name }
      files.append(File(name: name, size: bytes.count))
      return nil
    }
  }

  private func makeRoom(for size: Int, _ files: inout [File]) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.flightFilesPileUp) { return }
    #endif
    var bytes = files.reduce(0) { $0 + $1.size }
    while let oldest = files.first, files.count >= limit.files || bytes + size > limit.bytes {
      unlink("\(path)/\(oldest.name)")
      bytes -= oldest.size
      files.removeFirst()
    }
  }

  /// - Returns: the error's number; nil: all of it is written.
  static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
    bytes.withUnsafeBytes { raw in
      var offset = 0
      while offset < raw.count {
        let count = Glibc.write(descriptor, raw.baseAddress! + offset, raw.count - offset)
        if count < 0 {
          if errno == EINTR { continue }
          return errno
        }
        guard count > 0 else { return ENOSPC }
        offset += count
      }
      return nil
    }
  }

  private static func list(_ path: String) -> [File] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var found: [File] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
      }
      var status = stat()
      guard name.hasPrefix(prefix), name.hasSuffix(suffix), lstat("\(path)/\(name)", &status) == 0,
        status.st_mode & S_IFMT == S_IFREG
      else { continue }
      found.append(File(name: name, size: Int(status.st_size)))
    }
    return found.sorted { $0.name < $1.name }
  }

  private static func text(_ code: Int32) -> String { String(cString: strerror(code)) }
}
