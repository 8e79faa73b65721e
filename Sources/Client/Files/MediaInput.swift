internal import Glibc

/// The bytes of a file, or of standard input, as far as they are there: reading never waits.
final class MediaInput {
  enum Piece: Equatable {
    case bytes([UInt8])
    /// More comes later.
    case nothing
    case end
  }

  private static let size = 64 * 1_024

  private let descriptor: Int32
  private let isOwned: Bool
  private var buffer = [UInt8](repeating: 0, count: MediaInput.size)

  /// - Parameter path: `-` is standard input.
  init(_ path: String) throws(MediaFileError) {
    isOwned = path != "-"
    descriptor = isOwned ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) : STDIN_FILENO
    guard descriptor >= 0 else { throw Self.problem() }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.problem() }
    if status.st_mode & S_IFMT == S_IFDIR { throw .unreadable(String(cString: strerror(EISDIR))) }
  }

  deinit { if isOwned { close(descriptor) } }

  private static func problem() -> MediaFileError { .unreadable(String(cString: strerror(errno))) }

  func read() throws(MediaFileError) -> Piece {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&entry, 1, 0) > 0 else { return .nothing }
    let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
    guard count >= 0 else {
      if errno == EINTR || errno == EAGAIN { return .nothing }
      throw Self.problem()
    }
    return count == 0 ? .end : .bytes(Array(buffer[..<count]))
  }

  /// Waits until something can be read, or so many milliseconds.
  func wait(milliseconds: Int32) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    poll(&entry, 1, milliseconds)
  }

  /// Begins over.
  func rewind() throws(MediaFileError) { if lseek(descriptor, 0, SEEK_SET) != 0 { throw Self.problem() } }
}
