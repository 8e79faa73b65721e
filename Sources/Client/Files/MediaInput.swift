internal import Glibc

/// The bytes of a file, or of standard input, as far as they are there: reading never waits.
final class MediaInput {
  enum Piece: Equatable {
    case bytes([UInt8])
    /// More comes later.
    case nothing
    case end
  }

  private enum Source {
    case descriptor(Int32, isOwned: Bool)
    case memory([UInt8], piece: Int)
  }

  private static let size = 64 * 1_024

  private let source: Source
  private var buffer: [UInt8] = []
  private var place = 0

  /// - Parameter path: `-` is standard input.
  init(_ path: String) throws(MediaFileError) {
    let isOwned = path != "-"
    // A pipe that no one has opened to write yet is no reason to wait here.
    let flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
    let descriptor = isOwned ? open(path, flags) : STDIN_FILENO
    guard descriptor >= 0 else { throw Self.problem() }
    source = .descriptor(descriptor, isOwned: isOwned)
    buffer = [UInt8](repeating: 0, count: Self.size)
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.problem() }
    if status.st_mode & S_IFMT == S_IFDIR { throw .unreadable(String(cString: strerror(EISDIR))) }
  }

  /// Bytes that come in pieces.
  init(_ bytes: [UInt8], piece: Int) { source = .memory(bytes, piece: max(1, piece)) }

  deinit { if case .descriptor(let descriptor, isOwned: true) = source { close(descriptor) } }

  private static func problem() -> MediaFileError { .unreadable(String(cString: strerror(errno))) }

  func read() throws(MediaFileError) -> Piece {
    switch source {
    case .memory(let bytes, let piece):
      guard place < bytes.count else { return .end }
      let end = min(bytes.count, place + piece)
      defer { place = end }
      return .bytes(Array(bytes[place..<end]))
    case .descriptor(let descriptor, _):
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, 0) > 0 else { return .nothing }
      let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
      guard count >= 0 else {
        if errno == EINTR || errno == EAGAIN { return .nothing }
        throw Self.problem()
      }
      return count == 0 ? .end : .bytes(Array(buffer[..<count]))
    }
  }

  /// Waits until something can be read, or so many milliseconds.
  /// - Parameter signals: a descriptor that ends the wait when it becomes readable.
  /// - Returns: whether it is.
  func wait(milliseconds: Int32, signals: Int32?) -> Bool {
    guard case .descriptor(let descriptor, _) = source else { return false }
    // Of a negative descriptor nothing is said.
    var entries = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: signals ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    poll(&entries, 2, milliseconds)
    return entries[1].revents != 0
  }

  /// Begins over.
  func rewind() throws(MediaFileError) {
    switch source {
    case .memory: place = 0
    case .descriptor(let descriptor, _): if lseek(descriptor, 0, SEEK_SET) != 0 { throw Self.problem() }
    }
  }
}
