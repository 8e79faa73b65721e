internal import Containers
internal import Glibc

#if PLANTED_DEFECTS
  internal import Model
#endif

/// Why a file could not be written: the system's error number.
package struct FileProblem: Error, Equatable {
  package var code: Int32

  package init(_ code: Int32 = errno) { self.code = code }

  package var isFull: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }
  package var text: String { String(cString: strerror(code)) }
}

/// A file that grows, of one track. What is appended waits until it is worth a call, or a second has passed.
final class RecordingFile {
  private static let worth = 64 * 1_024
  /// Bytes after which it is to be synced: piece by piece, so that its end has little left.
  private static let piece = 8 * 1_024 * 1_024

  private let descriptor: Int32
  private var waiting: [UInt8] = []
  /// Of what is written, in their order.
  private var patches: [FilePatch] = []
  /// Bytes that the system has.
  private(set) var written = 0
  private var unsynced = 0

  /// Bytes of it, with those that wait.
  var size: Int { written + waiting.count }

  /// Makes the file; one that is there already is an error.
  convenience init(_ name: String, in folder: RecordingFolder) throws(FileProblem) {
    self.init(descriptor: try folder.create(name))
  }

  /// - Parameter descriptor: of an empty file, which is closed with this.
  init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// - Returns: whether enough was written since the last time that it is to be synced.
  func takeSyncIsDue() -> Bool {
    guard unsynced >= Self.piece else { return false }
    unsynced = 0
    return true
  }

  /// What is appended comes first: a change may patch what it appends itself. Where something can't be written the rest is done all the
  /// same, so that the file goes on where its writer believes that it does.
  func apply(_ change: FileChange) throws(FileProblem) {
    var problem: FileProblem?
    waiting += change.appended
    for patch in change.patches {
      do throws(FileProblem) { try apply(patch) } catch { problem = problem ?? error }
    }
    if waiting.count >= Self.worth {
      do throws(FileProblem) { try flush() } catch { problem = problem ?? error }
    }
    if let problem { throw problem }
  }

  private func apply(_ patch: FilePatch) throws(FileProblem) {
    guard patch.offset >= 0, patch.offset + patch.bytes.count <= size else { throw FileProblem(EINVAL) }
    // Some of it may be about what still waits.
    let split = max(0, min(written - patch.offset, patch.bytes.count))
    for index in split..<patch.bytes.count { waiting[patch.offset + index - written] = patch.bytes[index] }
    guard split > 0 else { return }
    patches.append(FilePatch(offset: patch.offset, bytes: Array(patch.bytes[..<split])))
    try writePatches()
  }

  private func writePatches() throws(FileProblem) {
    while let patch = patches.first {
      try write(patch.bytes, at: patch.offset)
      patches.removeFirst()
    }
  }

  /// Writes what waits. Where that fails it waits on: what comes later may change it, and a full disk get room again.
  func flush() throws(FileProblem) {
    if !waiting.isEmpty {
      #if PLANTED_DEFECTS
        defer { if PlantedDefect.isOn(.unwrittenForgone) { waiting = [] } }
      #endif
      try write(waiting, at: written)
      written += waiting.count
      unsynced += waiting.count
      waiting.removeAll(keepingCapacity: true)
    }
    try writePatches()
  }

  /// Nothing more comes; what could be written only in part isn't in it.
  func end() { if !waiting.isEmpty { ftruncate(descriptor, off_t(written)) } }

  private func write(_ bytes: [UInt8], at start: Int) throws(FileProblem) {
    let code = bytes.withUnsafeBytes { raw -> Int32 in
      var offset = 0
      while offset < raw.count {
        let count = pwrite(
          descriptor, raw.baseAddress! + offset, raw.count - offset, off_t(start + offset))
        if count < 0 {
          if errno == EINTR { continue }
          return errno
        }
        guard count > 0 else { return ENOSPC }
        offset += count
      }
      return 0
    }
    guard code == 0 else { throw FileProblem(code) }
  }
}
