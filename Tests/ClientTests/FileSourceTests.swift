import Containers
import Foundation
import Model
import Testing

@testable import Client

@Suite("Files that are played", .timeLimit(.minutes(1)))
struct FileSourceTests {
  private func inFile(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "roost-\(UUID().uuidString)")
    try Data(bytes).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    try body(file.path)
  }

  private func ivf(_ timestamps: [UInt64]) throws -> [UInt8] {
    var change = FileChange()
    let made = IVFWriter(IVFHeader(codec: .vp8, width: 64, height: 48, rate: 25, scale: 1), into: &change)
    var writer = try #require(made)
    for (number, timestamp) in timestamps.enumerated() {
      writer.add([UInt8(number), 1], timestamp: timestamp, into: &change)
    }
    return change.appended
  }

  /// Everything that is due by then, piece by piece.
  private func played(_ source: FileSource, until end: Int64) throws -> [(byte: UInt8, time: Int64)] {
    var found: [(UInt8, Int64)] = []
    for now in stride(from: 0, through: end, by: 20_000_000) {
      try source.fill(until: now)
      while let frame = source.next(until: now) { found.append((frame.bytes[0], frame.time)) }
    }
    return found
  }

  @Test func `a frame comes when its time has come, and the first one at once`() throws {
    try inFile(ivf([50, 51, 52, 54])) { path in
      let source = try FileSource(path, loops: false)
      #expect(source.tracks == [.vp8])
      try source.fill(until: 0)
      let (first, none) = (source.next(until: 0), source.next(until: 39_999_999))
      #expect(first?.bytes == [0, 1] && none == nil && source.nextTime == 40_000_000)
      let rest = try played(source, until: 200_000_000)
      #expect(rest.map(\.time) == [40_000_000, 80_000_000, 160_000_000])
      #expect(source.isOver && source.passes == 1)
    }
  }

  @Test func `what begins over goes on in one time line`() throws {
    try inFile(ivf([0, 1, 2])) { path in
      let source = try FileSource(path, loops: true)
      let all = try played(source, until: 1_000_000_000)
      #expect(all.map(\.time) == (0...25).map { Int64($0) * 40_000_000 })
      #expect(all.map(\.byte) == (0...25).map { UInt8($0 % 3) })
      #expect(!source.isOver && source.passes > 8)
    }
  }

  @Test func `what can't be played says why, before anything of it is sent`() throws {
    #expect(throws: MediaFileError.unreadable("No such file or directory")) {
      try FileSource("/nowhere/clip.ivf", loops: false)
    }
    #expect(throws: MediaFileError.unreadable("Is a directory")) { try FileSource("/tmp", loops: false) }
    try inFile(Array(ivf([0]).dropLast())) { path in
      #expect(throws: MediaFileError.empty) { try FileSource(path, loops: true) }
    }
    try inFile([]) { path in
      #expect(throws: MediaFileError.empty) { try FileSource(path, loops: false) }
    }
  }
}
