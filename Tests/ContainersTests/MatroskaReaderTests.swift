import Containers
import Model
import Testing

@Suite("Reading WebM and Matroska, RFC 9559", .timeLimit(.minutes(1)))
struct MatroskaReaderTests {
  static func read(
    _ bytes: [UInt8], step: Int
  ) throws -> (tracks: [MatroskaTrack], frames: [MatroskaReader.Frame]) {
    var reader = MatroskaReader()
    var frames: [MatroskaReader.Frame] = []
    for start in stride(from: 0, to: bytes.count, by: step) {
      reader.append(bytes[start..<min(bytes.count, start + step)])
      while let frame = try reader.next() { frames.append(frame) }
    }
    return (reader.tracks, frames)
  }

  @Test(arguments: [
    ("vp8-opus.webm", [Codec.vp8, .opus]), ("h264.mkv", [.h264]), ("h265.mkv", [.h265]),
    ("laced.mka", [.opus]),
    ("pcma.mka", [.pcma]),
  ])
  func `files of ffmpeg and mkvmerge are read frame by frame, in pieces of any size`(
    name: String, codecs: [Codec]
  ) throws {
    let fixture = try Fixture(name)
    for step in [1, 61, 100_000] {
      let (tracks, frames) = try Self.read(fixture.bytes, step: step)
      #expect(tracks.map(\.codec) == codecs)
      for track in tracks.indices {
        let mine = frames.filter { $0.track == track }
        let theirs = fixture.lines.filter { $0.track == track }
        #expect(mine.map { Fixture.checksum($0.bytes) } == theirs.map(\.checksum))
        if tracks[track].codec.kind == .video {
          #expect(tracks[track].size == PictureSize(width: 64, height: 48))
          #expect(mine.map(\.isKeyFrame) == theirs.map(\.isKeyFrame))
        }
      }
    }
  }

  @Test func `times are those of the blocks, and of a laced one each frame has its own`() throws {
    let laced = try Self.read(try Fixture("laced.mka").bytes, step: 512).frames
    for (index, frame) in laced.enumerated() {
      let wanted = Int64(index) * 20_000_000
      #expect((frame.nanoseconds - wanted).magnitude < 2_000_000)
    }
    let pictures = try Self.read(try Fixture("h264.mkv").bytes, step: 512).frames
    #expect(pictures.map(\.nanoseconds) == (0..<10).map { $0 * 100_000_000 })
  }

  @Test func `the description of Opus comes with its delay and its head`() throws {
    let track = try #require(try Self.read(try Fixture("laced.mka").bytes, step: 512).tracks.first)
    #expect(track.channels == 1 && track.codecDelay == 6_500_000)
    #expect(track.codecPrivate.starts(with: "OpusHead".utf8))
  }

  @Test func `a file that is cut anywhere has the frames before that`() throws {
    let bytes = try Fixture("vp8-opus.webm").bytes
    let all = try Self.read(bytes, step: 4_096).frames
    var counts: Set<Int> = []
    for end in stride(from: 0, to: bytes.count, by: 37) {
      let frames = try Self.read(Array(bytes[..<end]), step: 4_096).frames
      #expect(frames == Array(all.prefix(frames.count)))
      counts.insert(frames.count)
    }
    #expect(counts.count > 20)
  }

  /// A head, and a segment of unknown size with `content`.
  func file(_ content: [UInt8]) -> [UInt8] {
    [0x1A, 0x45, 0xDF, 0xA3, 0x87, 0x42, 0x82, 0x84] + Array("webm".utf8)
      + [0x18, 0x53, 0x80, 0x67, 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF] + content
  }
  /// A track of VP8, with number 1.
  let tracks: [UInt8] =
    [0x16, 0x54, 0xAE, 0x6B, 0x8C, 0xAE, 0x8A, 0xD7, 0x81, 1, 0x86, 0x85] + Array("V_VP8".utf8)
  func cluster(_ content: [UInt8]) -> [UInt8] {
    [0x1F, 0x43, 0xB6, 0x75, 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xE7, 0x81, 5] + content
  }

  @Test func `each kind of lacing is undone`() throws {
    func frames(_ flags: UInt8, _ content: [UInt8]) throws -> [[UInt8]] {
      let block = [0xA3, 0x80 | UInt8(4 + content.count), 0x81, 0, 2, flags] + content
      return try Self.read(file(tracks + cluster(block)), step: 3).frames.map(\.bytes)
    }
    #expect(try frames(0x80, [1, 2, 3]) == [[1, 2, 3]])
    // Xiph: two sizes, the rest is the third.
    #expect(try frames(0x82, [2, 1, 2, 1, 2, 3, 4]) == [[1], [2, 3], [4]])
    #expect(try frames(0x84, [1, 1, 2, 3, 4]) == [[1, 2], [3, 4]])
    // EBML: 2, then one less.
    #expect(try frames(0x86, [2, 0x82, 0xBE, 1, 2, 3, 4, 5]) == [[1, 2], [3], [4, 5]])
    for (flags, content): (UInt8, [UInt8]) in [(0x82, []), (0x82, [2, 9, 1]), (0x86, [2, 0x82, 0x81, 1])] {
      #expect(throws: ContainerError.self) { try frames(flags, content) }
    }
  }

  @Test func `a block in a group is a key frame unless it refers to another`() throws {
    let block: [UInt8] = [0xA1, 0x85, 0x81, 0, 0, 0, 7]
    let lone = [UInt8](arrayLiteral: 0xA0, 0x87) + block
    let referring = [UInt8](arrayLiteral: 0xA0, 0x8A) + block + [0xFB, 0x81, 0xFF]
    let frames = try Self.read(file(tracks + cluster(lone + referring)), step: 5).frames
    #expect(frames.map(\.isKeyFrame) == [true, false])
    #expect(frames.map(\.nanoseconds) == [5_000_000, 5_000_000])
  }

  @Test func `what frames begin with and the file leaves out is put back; other encodings hide a track`()
    throws
  {
    func tracks(_ encodings: [UInt8]) -> [UInt8] {
      var entry: [UInt8] = [0xD7, 0x81, 1, 0x86, 0x85] + Array("V_VP8".utf8)
      entry += [0x6D, 0x80, 0x80 | UInt8(encodings.count)] + encodings
      let one = [0xAE, 0x80 | UInt8(entry.count)] + entry
      return [0x16, 0x54, 0xAE, 0x6B, 0x80 | UInt8(one.count)] + one
    }
    let block: [UInt8] = [0xA3, 0x85, 0x81, 0, 0, 0x80, 7]
    let stripped: [UInt8] = [0x62, 0x40, 0x8C, 0x50, 0x34, 0x89, 0x42, 0x54, 0x81, 3, 0x42, 0x55, 0x82, 8, 9]
    #expect(
      try Self.read(file(tracks(stripped) + cluster(block)), step: 5).frames.map(\.bytes) == [[8, 9, 7]])
    let deflated: [UInt8] = [0x62, 0x40, 0x87, 0x50, 0x34, 0x84, 0x42, 0x54, 0x81, 0]
    #expect(throws: ContainerError.self) { try Self.read(file(tracks(deflated)), step: 5) }
  }

  @Test func `what isn't wanted is passed over without being kept, however large`() throws {
    // Attachments of 2^40 bytes, of which some come.
    let huge: [UInt8] = [0x19, 0x41, 0xA4, 0x69, 0x01, 0x00, 0x01, 0, 0, 0, 0, 0]
    var reader = MatroskaReader()
    reader.append(file(huge))
    for _ in 0..<100 {
      reader.append([UInt8](repeating: 0, count: 1_000_000))
      #expect(try reader.next() == nil)
    }
    #expect(reader.tracks.isEmpty)
    // Tags between clusters.
    let tags: [UInt8] = [0x12, 0x54, 0xC3, 0x67, 0x83, 1, 2, 3]
    let block: [UInt8] = [0xA3, 0x85, 0x81, 0, 0, 0x80, 7]
    #expect(
      try Self.read(file(tracks + tags + cluster(block) + tags + cluster(block)), step: 1).frames.count == 2)
  }

  @Test func `bounds are asked before anything is kept`() throws {
    func error(_ bytes: [UInt8]) -> ContainerError? {
      do {
        _ = try Self.read(bytes, step: 16)
        return nil
      } catch { return error as? ContainerError }
    }
    #expect(error([0]) == .invalid(field: "an element's id", offset: 0))
    #expect(error([0x42, 0x86, 0x81, 1]) == .notThis(format: "WebM or Matroska", offset: 0))
    let other = [0x1A, 0x45, 0xDF, 0xA3, 0x87, 0x42, 0x82, 0x84] + Array("mp4 ".utf8)
    #expect(error(other) == .notThis(format: "WebM or Matroska", offset: 0))
    // Of five bytes, which have 35 bits for the number.
    let block: [UInt8] = [0xA3, 0x0A, 0, 0, 0, 0]
    #expect(
      error(file(tracks + block))
        == .tooLarge(
          what: "an element", bytes: 0x2_0000_0000, limit: MatroskaReader.largestBlock, offset: 41))
    let unknown: [UInt8] = [0xA3, 0xFF, 0x81, 0, 0, 0x80]
    #expect(error(file(tracks + unknown)) == .invalid(field: "an element's size", offset: 41))
    let subtitles =
      [0x16, 0x54, 0xAE, 0x6B, 0x8D, 0xAE, 0x8B, 0xD7, 0x81, 1, 0x86, 0x86] + Array("S_TEXT".utf8)
    #expect(error(file(subtitles)) == .noTrack(offset: 24))
  }
}
