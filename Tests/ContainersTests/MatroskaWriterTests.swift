import Containers
import Foundation
import Model
import TestScripts
import Testing
import Wire

@Suite("Writing WebM and Matroska", .timeLimit(.minutes(1)))
struct MatroskaWriterTests {
  /// A file as it is at each moment, and what was appended so far.
  struct Written {
    var file: [UInt8] = []
    var writer: MatroskaWriter

    init(_ tracks: [MatroskaTrack]) throws {
      var change = FileChange()
      writer = try #require(MatroskaWriter(tracks, application: "Roost", into: &change))
      file = try applied(change)
    }

    mutating func add(_ frame: MatroskaReader.Frame) throws {
      var change = FileChange()
      writer.add(
        frame.bytes, track: frame.track, nanoseconds: frame.nanoseconds, duration: 20_000_000,
        isKeyFrame: frame.isKeyFrame, into: &change)
      file = try applied(change, to: file)
    }

    mutating func finish() throws {
      var change = FileChange()
      writer.finish(into: &change)
      file = try applied(change, to: file)
    }
  }

  static func rewritten(_ name: String) throws -> Written {
    let (tracks, frames) = try MatroskaReaderTests.read(try Fixture(name).bytes, step: 4_096)
    var written = try Written(tracks)
    for frame in frames { try written.add(frame) }
    try written.finish()
    return written
  }

  func tool(_ name: String, _ arguments: [String], _ file: [UInt8]) throws -> (status: Int32, output: String)
  {
    try Tool.inFolder { folder in
      let path = folder.appending(path: "a.webm")
      try Data(file).write(to: path)
      let paths = ["FILE": path.path, "OTHER": folder.appending(path: "b.mkv").path]
      return try Tool.run(name, arguments.map { paths[$0] ?? $0 })
    }
  }

  @Test(arguments: ["vp8-opus.webm", "h264.mkv", "h265.mkv", "laced.mka", "pcma.mka"])
  func `ffmpeg finds the same frames in what is written, at the same times`(name: String) throws {
    let fixture = try Fixture(name)
    let file = try Self.rewritten(name).file
    let lines = try Fixture.lines(inFile: file, named: name)
    #expect(lines.map(\.checksum) == fixture.lines.map(\.checksum))
    #expect(lines.map(\.isKeyFrame) == fixture.lines.map(\.isKeyFrame))
    let again = try MatroskaReaderTests.read(file, step: 9).frames
    #expect(again.map { Fixture.checksum($0.bytes) }.sorted() == fixture.lines.map(\.checksum).sorted())
    // And decodes them.
    let decoded = try tool(
      "ffmpeg", ["-loglevel", "error", "-xerror", "-i", "FILE", "-f", "null", "-"], file)
    #expect(decoded.status == 0, "\(decoded.output)")
  }

  @Test(arguments: ["vp8-opus.webm", "h264.mkv", "h265.mkv"])
  func `mkvmerge and mkvinfo read it without a complaint, index and duration too`(name: String) throws {
    let file = try Self.rewritten(name).file
    let info = try tool("mkvinfo", ["--all", "FILE"], file)
    #expect(info.status == 0)
    for part in ["Cues", "Seek entry", "Duration: 00:00:0"] { #expect(info.output.contains(part), "\(part)") }
    #expect(!info.output.lowercased().contains("error") && !info.output.contains("Unknown element"))
    // Into a file: it goes back to the head when it is done.
    let merged = try tool("mkvmerge", ["-o", "OTHER", "FILE"], file)
    #expect(merged.status == 0, "\(merged.output)")
  }

  @Test func `what a crash leaves is readable up to its last whole frame`() throws {
    let (tracks, frames) = try MatroskaReaderTests.read(try Fixture("vp8-opus.webm").bytes, step: 4_096)
    var written = try Written(tracks)
    for (index, frame) in frames.enumerated() {
      try written.add(frame)
      let cut = Array(written.file.dropLast(index % 5))
      let found = try MatroskaReaderTests.read(cut, step: 10_000).frames.count
      #expect(found == (index % 5 == 0 ? index + 1 : index))
    }
    let lines = try Fixture.lines(inFile: Array(written.file.dropLast(3)), named: "a.webm")
    #expect(lines.count == frames.count - 1)
  }

  @Test func `clusters begin with key frames or after five seconds, and have sizes once they are over`()
    throws
  {
    var written = try Written([.video(.vp8, size: PictureSize(width: 64, height: 48))])
    for index in 0..<200 {
      try written.add(
        MatroskaReader.Frame(
          track: 0, nanoseconds: Int64(index) * 100_000_000, isKeyFrame: index == 0 || index == 130,
          bytes: [UInt8(index)]))
    }
    try written.finish()
    let found = try MatroskaReaderTests.read(written.file, step: 999).frames
    #expect(found.map(\.nanoseconds) == (0..<200).map { $0 * 100_000_000 })
    let clusters = written.file.indices.filter { written.file[$0...].starts(with: [0x1F, 0x43, 0xB6, 0x75]) }
    // At 0, 5, 10, 13 and 18 s.
    #expect(clusters.count == 5)
    #expect(clusters.allSatisfy { written.file[$0 + 4] == 0x01 && written.file[$0 + 5] != 0xFF })
  }

  @Test func `a recording of a day has an index that stays within its bound`() throws {
    var change = FileChange()
    var writer = try #require(
      MatroskaWriter([.opus(OpusHead(channels: 2))], application: "Roost", into: &change))
    for second in 0..<86_400 {
      change = FileChange()
      writer.add(
        [0xF8, 1], nanoseconds: Int64(second) * 1_000_000_000, isKeyFrame: true, into: &change)
    }
    change = FileChange()
    writer.finish(into: &change)
    #expect(change.appended.count < 100_000 && change.appended.count > 20_000)
  }

  @Test func `codecs that Matroska has no name for are refused`() {
    var change = FileChange()
    #expect(MatroskaWriter([], application: "", into: &change) == nil)
    var red = MatroskaTrack.opus(OpusHead(channels: 1))
    red.codec = .red
    #expect(MatroskaWriter([red], application: "", into: &change) == nil)
    #expect(change.isEmpty)
  }
}
