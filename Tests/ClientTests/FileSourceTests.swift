import Containers
import Foundation
import Glibc
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
      writer.add([UInt8(truncatingIfNeeded: number), 1], timestamp: timestamp, into: &change)
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

  /// G.711 in Matroska: blocks of a track, and another track of pictures that has none.
  private func matroska(_ blocks: [(time: Int64, bytes: Int)], pictures: Bool = false) throws -> [UInt8] {
    var change = FileChange()
    var tracks = [try #require(MatroskaTrack.telephone(.pcmu))]
    if pictures { tracks.append(.video(.vp8, size: PictureSize(width: 64, height: 48))) }
    let made = MatroskaWriter(tracks, application: "test", into: &change)
    var writer = try #require(made)
    for block in blocks {
      writer.add(
        [UInt8](repeating: 7, count: block.bytes), nanoseconds: block.time, isKeyFrame: true, into: &change)
    }
    return change.appended
  }

  @Test func `times at the end of all time are left out, and none is beyond it`() throws {
    // Its second packet of 20 ms would lie behind the last moment that can be counted.
    let whole = try matroska([(0, 160), (Int64.max / 1_000_000 * 1_000_000, 400)])
    let source = try FileSource(whole, piece: 50, loops: false)
    for now in [0, 1_000_000_000, Int64.max / 2] {
      try source.fill(until: now)
      while let frame = source.next(until: now) { #expect(frame.time >= 0 && frame.bytes.count <= 160) }
    }
    #expect(source.isOver)
  }

  @Test func `passes of a file that takes a year come to an end`() throws {
    let year: Int64 = 364 * 86_400
    let file = try ivf([0, UInt64(year) * 25])
    let source = try FileSource(file, piece: 4_096, loops: true)
    var last: Int64 = -1
    for pass in 0..<400 as Range<Int64> {
      let now = min(pass, 290) * year * 1_000_000_000
      try source.fill(until: now)
      while let frame = source.next(until: .max) {
        #expect(frame.time >= last)
        last = frame.time
      }
    }
    #expect(source.isOver && source.passes < 110)
  }

  @Test func `for a track that never has a frame the file isn't read without an end`() throws {
    let file = try matroska([(0, 160), (20_000_000, 160)], pictures: true)
    let source = try FileSource(file, piece: 4_096, loops: true)
    #expect(source.tracks == [.pcmu, .vp8])
    try source.fill(until: 0)
    #expect(source.framesAhead < 200 && source.passes < 100)
  }

  @Test func `no more frames are read ahead than may be, however small they are`() throws {
    // All of one moment.
    let file = try ivf(Array(repeating: 0, count: 100_000))
    let source = try FileSource(file, piece: 4_096, loops: false)
    for _ in 0..<100 { try source.fill(until: 0) }
    #expect((FileSource.mostFrames..<FileSource.mostFrames + 1_000).contains(source.framesAhead))
  }

  @Test func `a pipe in which nothing comes is not waited for once there is a signal`() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let path = FileManager.default.temporaryDirectory.appending(path: "roost-\(UUID().uuidString)").path
    try #require(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    write(ends[1], "x", 1)
    #expect(throws: MediaFileError.interrupted) { try FileSource(path, loops: false, signals: ends[0]) }
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
