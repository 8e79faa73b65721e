import Containers
import Model
import Testing

@Suite("IVF", .timeLimit(.minutes(1)))
struct IVFTests {
  static func read(_ bytes: [UInt8], step: Int) throws -> (header: IVFHeader?, frames: [IVFReader.Frame]) {
    var reader = IVFReader()
    var frames: [IVFReader.Frame] = []
    for start in stride(from: 0, to: bytes.count, by: step) {
      reader.append(bytes[start..<min(bytes.count, start + step)])
      while let frame = try reader.next() { frames.append(frame) }
    }
    return (reader.header, frames)
  }

  @Test(arguments: [("vp8", Codec.vp8), ("vp9", .vp9), ("av1", .av1)])
  func `ffmpeg's files are read frame by frame, in pieces of any size`(name: String, codec: Codec) throws {
    let fixture = try Fixture(name + ".ivf")
    for step in [1, 7, 100_000] {
      let (header, frames) = try Self.read(fixture.bytes, step: step)
      #expect(header == IVFHeader(codec: codec, width: 64, height: 48, rate: 10, scale: 1, frames: 10))
      #expect(frames.map { Int64($0.timestamp) } == fixture.lines.map(\.time))
      #expect(frames.map { Fixture.checksum($0.bytes) } == fixture.lines.map(\.checksum))
    }
  }

  @Test(arguments: [("vp8", Codec.vp8), ("vp9", .vp9), ("av1", .av1)])
  func `ffmpeg reads what is written, with the times that were given`(name: String, codec: Codec) throws {
    let fixture = try Fixture(name + ".ivf")
    let (_, frames) = try Self.read(fixture.bytes, step: 1_000)
    var change = FileChange()
    var writer = try #require(
      IVFWriter(IVFHeader(codec: codec, width: 64, height: 48), into: &change))
    for (index, frame) in frames.enumerated() {
      writer.add(frame.bytes, timestamp: UInt64(index * index * 9_000), into: &change)
    }
    writer.finish(into: &change)
    let file = try applied(change)
    #expect(file[24] == 10)
    let lines = try Fixture.lines(inFile: file, named: "a.ivf")
    #expect(lines.map(\.time) == (0..<10).map { Int64($0 * $0 * 9_000) })
    #expect(lines.map(\.checksum) == fixture.lines.map(\.checksum))
    #expect(lines.map(\.isKeyFrame) == fixture.lines.map(\.isKeyFrame))
  }

  @Test func `a file that ends within a frame has those before it`() throws {
    let bytes = try Fixture("vp8.ivf").bytes
    #expect(try Self.read(Array(bytes.dropLast(1)), step: 64).frames.count == 9)
    #expect(try Self.read(Array(bytes.prefix(IVFHeader.size + 11)), step: 64).frames.isEmpty)
    #expect(try Self.read(Array(bytes.prefix(IVFHeader.size - 1)), step: 64).header == nil)
  }

  @Test func `a frame larger than is read is refused before it is waited for`() throws {
    var bytes = Array(try Fixture("vp8.ivf").bytes.prefix(IVFHeader.size))
    bytes += [1, 0, 0, 1] + [UInt8](repeating: 0, count: 8)
    #expect(
      throws: ContainerError.tooLarge(
        what: "a frame", bytes: 0x100_0001, limit: IVFReader.largestFrame, offset: 32)
    ) { try Self.read(bytes, step: 8) }
  }

  @Test func `headers of other kinds are refused, each field by its name`() throws {
    let bytes = try Fixture("vp8.ivf").bytes
    func error(_ change: (inout [UInt8]) -> Void) -> ContainerError? {
      var changed = bytes
      change(&changed)
      do {
        _ = try Self.read(changed, step: 1_000)
        return nil
      } catch { return error as? ContainerError }
    }
    #expect(error { $0[0] = 0 } == .notThis(format: "IVF", offset: 0))
    #expect(error { $0[4] = 1 } == .invalid(field: "IVF's version", offset: 4))
    #expect(error { $0[6] = 33 } == .invalid(field: "the header's size", offset: 6))
    #expect(error { $0[8] = 0x4D } == .invalid(field: "the codec", offset: 8))
    #expect(error { $0[16] = 0 } == .invalid(field: "the time base", offset: 16))
  }

  @Test func `sound and H.264 have no letters in IVF`() {
    var change = FileChange()
    for codec in [Codec.opus, .h264, .h265, .pcmu] {
      #expect(IVFWriter(IVFHeader(codec: codec, width: 1, height: 1), into: &change) == nil)
    }
    #expect(change.isEmpty)
  }
}

/// What a file has after a change, from nothing.
func applied(_ change: FileChange, to file: [UInt8] = []) throws -> [UInt8] {
  var bytes = file + change.appended
  for patch in change.patches {
    try #require(patch.offset >= 0 && patch.offset + patch.bytes.count <= bytes.count)
    bytes.replaceSubrange(patch.offset..<patch.offset + patch.bytes.count, with: patch.bytes)
  }
  return bytes
}
