import Containers
import Foundation
import Glibc
import Model
import Testing

@testable import Recording

@Suite("A file that grows", .timeLimit(.minutes(1)))
struct RecordingFileTests {
  private func change(_ bytes: [UInt8] = [], at offset: Int? = nil, _ patch: [UInt8] = []) -> FileChange {
    var change = FileChange()
    change.appended = bytes
    if let offset { change.patches = [FilePatch(offset: offset, bytes: patch)] }
    return change
  }

  @Test func `on a full disk what waits stays as it is to come, and can still be changed`() throws {
    let file = RecordingFile(descriptor: open("/dev/full", O_WRONLY | O_CLOEXEC))
    try file.apply(change([UInt8](repeating: 1, count: 100)))
    for _ in 0..<3 {
      #expect(throws: FileProblem(ENOSPC)) { try file.flush() }
      #expect(file.size == 100)
      // Sizes of what has grown come when it is over.
      try file.apply(change(at: 92, [1, 2, 3, 4, 5, 6, 7, 8]))
    }
    #expect(throws: FileProblem(ENOSPC)) {
      try file.apply(change([UInt8](repeating: 1, count: 100_000)))
    }
    #expect(file.size == 100_100)
    #expect(throws: FileProblem(ENOSPC)) { try file.apply(change(at: 60_000, [7])) }
  }

  @Test func `a change may patch what it appends itself, and none lies beyond the file`() throws {
    let written = try RecordedFiles.WrittenFile()
    try written.file.apply(change([0, 1, 2, 3], at: 2, [7, 8]))
    #expect(try written.bytes() == [0, 1, 7, 8])
    try written.file.apply(change([4], at: 3, [9, 9]))
    #expect(try written.bytes() == [0, 1, 7, 9, 9])
    for offset in [4, 5, -1, 1_000_000] {
      #expect(throws: FileProblem(EINVAL)) { try written.file.apply(change(at: offset, [1, 2])) }
    }
    #expect(try written.bytes() == [0, 1, 7, 9, 9])
  }

  @Test func `what can't be changed for want of room is changed later, in its order`() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "roost-\(UUID().uuidString)").path
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    let (kept, full) = (dup(descriptor), open("/dev/full", O_WRONLY | O_CLOEXEC))
    defer {
      unlink(path)
      close(kept)
      close(full)
    }
    let file = RecordingFile(descriptor: descriptor)
    try file.apply(change([0, 1, 2, 3]))
    try file.flush()
    dup2(full, descriptor)
    for patch in [[7, 8], [9]] as [[UInt8]] {
      #expect(throws: FileProblem(ENOSPC)) { try file.apply(change(at: 1, patch)) }
    }
    dup2(kept, descriptor)
    try file.flush()
    #expect(Array(try Data(contentsOf: URL(filePath: path))) == [0, 9, 8, 3])
  }

  @Test func `what is changed lies where it belongs, written already, waiting or both`() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "roost-\(UUID().uuidString)").path
    defer { unlink(path) }
    let file = RecordingFile(descriptor: open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600))
    try file.apply(change([0, 1, 2, 3]))
    try file.flush()
    try file.apply(change([4, 5, 6, 7]))
    for (offset, patch) in [(0, [10, 11]), (3, [13, 14]), (6, [16])] as [(Int, [UInt8])] {
      try file.apply(change(at: offset, patch))
    }
    try file.flush()
    let written = try Data(contentsOf: URL(filePath: path))
    #expect(Array(written) == [10, 11, 2, 13, 14, 5, 16, 7])
  }
}
