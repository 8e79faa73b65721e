import Containers
import Model
import Testing

@testable import Client

@Suite("Frames of files", .timeLimit(.minutes(1)))
struct MediaFramesTests {
  private func frames(_ bytes: [UInt8], piece: Int) throws -> (MediaFrames, [MediaFrames.Frame]) {
    var reader = MediaFrames()
    var found: [MediaFrames.Frame] = []
    for start in stride(from: 0, to: bytes.count, by: piece) {
      try reader.append(Array(bytes[start..<min(start + piece, bytes.count)]))
      while let frame = try reader.next() { found.append(frame) }
    }
    return (reader, found)
  }

  private func ivf(_ count: Int) throws -> [UInt8] {
    var change = FileChange()
    var writer = try #require(
      IVFWriter(IVFHeader(codec: .vp8, width: 64, height: 48, rate: 25, scale: 1), into: &change))
    for number in 0..<count {
      writer.add([UInt8(number), 1, 2], timestamp: UInt64(number), into: &change)
    }
    return change.appended
  }

  @Test(arguments: [1, 7, 4_096]) func `IVF has its times by its own clock, however it comes`(piece: Int)
    throws
  {
    let (reader, found) = try frames(try ivf(3), piece: piece)
    #expect(reader.tracks == [.vp8])
    #expect(found.map(\.nanoseconds) == [0, 40_000_000, 80_000_000])
    #expect(found.map(\.bytes) == [[0, 1, 2], [1, 1, 2], [2, 1, 2]])
  }

  @Test func `sound in Ogg begins when it is heard, and says how long it is`() throws {
    var change = FileChange()
    var writer = OggOpusWriter(OpusHead(channels: 2), serial: 1, encoder: "test", into: &change)
    // 20 ms each.
    for _ in 0..<4 { writer.add([0x08, 7], samples: 960, into: &change) }
    writer.finish(into: &change)
    let (reader, found) = try frames(change.appended, piece: 64)
    #expect(reader.tracks == [.opus])
    #expect(found.map(\.nanoseconds) == [-6_500_000, 13_500_000, 33_500_000, 53_500_000])
    #expect(found.allSatisfy { $0.duration == 20_000_000 })
  }

  @Test func `of Matroska the first of each kind is taken, and parameters stand in front of key frames`()
    throws
  {
    let (sequence, picture): ([UInt8], [UInt8]) = ([0x67, 0x42, 0xC0, 0x1F], [0x68, 0xCE])
    var record: [UInt8] = [1, 0x42, 0xC0, 0x1F, 0xFF, 0xE1, 0, 4]
    record += sequence + [1, 0, 2] + picture
    var change = FileChange()
    var writer = try #require(
      MatroskaWriter(
        [.video(.h264, size: PictureSize(width: 64, height: 48), codecPrivate: record)], application: "test",
        into: &change))
    writer.add([0, 0, 0, 2, 0x65, 9], nanoseconds: 0, duration: 0, isKeyFrame: true, into: &change)
    writer.add([0, 0, 0, 2, 0x41, 9], nanoseconds: 40_000_000, duration: 0, isKeyFrame: false, into: &change)
    writer.finish(into: &change)
    let (reader, found) = try frames(change.appended, piece: 50)
    #expect(reader.tracks == [.h264])
    let sets: [UInt8] = [0, 0, 0, 4] + sequence + [0, 0, 0, 2] + picture
    #expect(found.map(\.bytes) == [sets + [0, 0, 0, 2, 0x65, 9], [0, 0, 0, 2, 0x41, 9]])
    #expect(AVCFrames(Array(record.dropLast())) == nil)
    #expect(AVCFrames(record)?.frame([0, 0, 0, 9, 1], isKeyFrame: false) == nil)
  }

  @Test func `a block of hours comes in packets, and in no time`() throws {
    var change = FileChange()
    let track = try #require(MatroskaTrack.telephone(.pcma))
    var writer = try #require(MatroskaWriter([track], application: "test", into: &change))
    // As large as a block may be.
    writer.add([UInt8](repeating: 1, count: 16_000_000), nanoseconds: 0, isKeyFrame: true, into: &change)
    let (_, found) = try frames(change.appended, piece: 1 << 20)
    #expect(found.count == 100_000 && found.last?.nanoseconds == 99_999 * 20_000_000)
  }

  @Test func `what is no media says so before much of it is kept`() {
    #expect(throws: MediaFileError.unknownFormat) { try frames(Array("<html>".utf8), piece: 2) }
    #expect(throws: MediaFileError.invalid(.invalid(field: "IVF's version", offset: 4))) {
      try frames(Array("DKIF".utf8) + Array(repeating: 1, count: 40), piece: 9)
    }
  }
}
