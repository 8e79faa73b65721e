internal import Glibc
internal import Model
internal import Synchronization

/// A directory of capture files, of which some make room for the newest. Files with other names are left alone.
///
/// A participant can have its session fail whenever it likes, and each time a file is written. So those of the room that has the
/// most make room, and of them those of the identity that has the most, the oldest first: what others have stays.
final class FlightDirectory: Sendable {
  private struct File {
    var name: FlightName
    var size: Int
  }

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

  /// Writes a file; it has its name once all of it is there.
  /// - Returns: why it can't be; nil: it is there.
  func write(_ bytes: [UInt8], as name: String) -> String? {
    files.withLock { files -> String? in
      guard bytes.count <= limit.bytes else { return "larger than all files may be together" }
      guard let known = FlightName(file: name) else { return "not a name of a capture file" }
      let file = File(name: known, size: bytes.count)
      makeRoom(for: file, &files)
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
      files.removeAll { $0.name.text == name }
      files.append(file)
      return nil
    }
  }

  private func makeRoom(for new: File, _ files: inout [File]) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.flightFilesPileUp) { return }
    #endif
    var bytes = files.reduce(0) { $0 + $1.size }
    while !files.isEmpty {
      let isFull = files.count >= limit.files
      guard isFull || bytes + new.size > limit.bytes else { return }
      let position = Self.first(toGo: files, for: new) { isFull ? 1 : $0.size }
      unlink("\(path)/\(files[position].name.text)")
      bytes -= files[position].size
      files.remove(at: position)
    }
  }

  /// The oldest file of the identity that has the most in the room that has the most, with the new one.
  private static func first(toGo files: [File], for new: File, _ weight: (File) -> Int) -> Int {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.oldestFlightGoes) { return 0 }
    #endif
    let room = heaviest(files, new, weight) { $0.name.room }
    let ofRoom = files.filter { $0.name.room == room }
    let identity = heaviest(ofRoom, new, weight) { $0.name.identity }
    return files.firstIndex { $0.name.room == room && $0.name.identity == identity } ?? 0
  }

  /// Of those that weigh the same the one that has the oldest file.
  private static func heaviest(
    _ files: [File], _ new: File, _ weight: (File) -> Int, _ owner: (File) -> String
  ) -> String {
    var sums: [String: Int] = [owner(new): weight(new)]
    for file in files { sums[owner(file), default: 0] += weight(file) }
    var found = (owner: "", sum: -1)
    for file in files {
      let sum = sums[owner(file), default: 0]
      if sum > found.sum { found = (owner(file), sum) }
    }
    return found.owner
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
      guard let known = FlightName(file: name), lstat("\(path)/\(name)", &status) == 0,
        status.st_mode & S_IFMT == S_IFREG
      else { continue }
      found.append(File(name: known, size: Int(status.st_size)))
    }
    return found.sorted { $0.name.text < $1.name.text }
  }

  private static func text(_ code: Int32) -> String { String(cString: strerror(code)) }
}
