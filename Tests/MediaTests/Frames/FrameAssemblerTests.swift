import Media
import Model
import Testing
import Wire

@Suite("Frames out of packets", .timeLimit(.minutes(1)))
struct FrameAssemblerTests {
  /// The frames of the IVF file that GStreamer's payloader was given.
  static func originals(_ name: String) throws -> [[UInt8]] {
    var rest = try PayloaderFixture.bytes(of: name + ".ivf").dropFirst(32)
    var frames: [[UInt8]] = []
    while rest.count >= 12 {
      var size = 0
      for byte in rest.prefix(4).reversed() { size = size << 8 | Int(byte) }
      frames.append(Array(rest.dropFirst(12).prefix(size)))
      rest = rest.dropFirst(12 + size)
    }
    return frames
  }

  /// The pictures of H.264's file, as frames have them: units behind their sizes, a slice and what parameter sets it has.
  static func pictures() throws -> [[UInt8]] {
    let bytes = try PayloaderFixture.bytes(of: "h264.h264")
    var pictures: [[UInt8]] = []
    var picture: [UInt8] = []
    for range in NALUnits.betweenStartCodes(bytes) {
      let unit = Array(bytes[range])
      guard [1, 5, 7, 8].contains(unit[0] & 0x1F) else { continue }
      picture += [0, 0, UInt8(unit.count >> 8), UInt8(unit.count & 0xFF)] + unit
      guard unit[0] & 0x1F <= 5 else { continue }
      pictures.append(picture)
      picture = []
    }
    return pictures
  }

  /// Units without parameter sets, delimiters and what encoders say of themselves, which payloaders put in or leave out.
  static func units(_ units: [[UInt8]], _ name: String) -> [[UInt8]] {
    units.filter { unit in
      let type = name == "h264" ? unit[0] & 0x1F : unit[0] >> 1 & 0x3F
      return !(name == "h264" ? [6, 7, 8, 9] : [32, 33, 34, 35, 39]).contains(type)
    }
  }

  @Test(arguments: ["vp8", "vp9"])
  func `what GStreamer divided is joined to the frames that it was given`(name: String) throws {
    let frames = PayloaderFixture.frames(try PayloaderFixture.packets(name))
    let originals = try Self.originals(name)
    #expect(frames.map(\.bytes) == originals)
    #expect(frames.map(\.isKeyFrame) == (0..<10).map { $0 % 5 == 0 })
    #expect(frames.allSatisfy { !$0.followsLoss || $0.timestamp == frames[0].timestamp })
    #expect(frames.filter(\.isKeyFrame).allSatisfy { $0.size == PictureSize(width: 64, height: 48) })
    for (frame, next) in zip(frames, frames.dropFirst()) {
      #expect(next.timestamp &- frame.timestamp == 9_000)
    }
  }

  @Test(arguments: ["h264", "h265"])
  func `aggregates and fragments of GStreamer are joined to the units that it was given`(name: String) throws
  {
    let frames = PayloaderFixture.frames(try PayloaderFixture.packets(name))
    #expect(frames.count == 10 && frames.map(\.isKeyFrame) == (0..<10).map { $0 % 5 == 0 })
    let found = try frames.flatMap { frame in
      try #require(NALUnits.behindSizes(frame.bytes, width: 4)).map { Array(frame.bytes[$0]) }
    }
    let file = try PayloaderFixture.bytes(of: "\(name).\(name)")
    let wanted = NALUnits.betweenStartCodes(file).map { Array(file[$0]) }
    #expect(Self.units(found, name) == Self.units(wanted, name))
    // GStreamer has put H.265's parameter sets in front of the first alone.
    let sizes = frames.filter(\.isKeyFrame).map(\.size)
    let size = PictureSize(width: 64, height: 48)
    #expect(sizes == (name == "h264" ? [size, size] : [size, nil]))
  }

  @Test(arguments: ["vp8", "vp9", "h264", "h265"])
  func `of a frame that lacks any one packet nothing comes out, and of the others everything`(name: String)
    throws
  {
    let packets = try PayloaderFixture.packets(name)
    let whole = PayloaderFixture.frames(packets)
    for missing in packets.indices {
      var fewer = packets
      let lost = fewer.remove(at: missing)
      let frames = PayloaderFixture.frames(fewer)
      // What H.264's encoder says of itself is in front of the first picture, in two packets that it doesn't need.
      guard name != "h264" || missing > 1 else {
        #expect(frames.map(\.bytes) == whole.map(\.bytes))
        continue
      }
      let place = try #require(whole.firstIndex { $0.timestamp == lost.timestamp })
      var wanted = whole
      wanted.remove(at: place)
      // A key frame that has no parameter sets may have lost them.
      if lost.marker, place < wanted.count, wanted[place].isKeyFrame, name == "h265" {
        wanted.remove(at: place)
      }
      #expect(frames.map(\.bytes) == wanted.map(\.bytes), "\(missing)")
      // The one behind it, as they are sent, says so.
      if place < frames.count { #expect(frames[place].followsLoss) }
    }
  }

  @Test(arguments: ["vp8", "vp9", "h264", "h265"])
  func `a source whose frames end without a mark is read all the same`(name: String) throws {
    let packets = try PayloaderFixture.packets(name).map { packet in
      var packet = packet
      packet.marker = false
      return packet
    }
    let frames = PayloaderFixture.frames(packets)
    let whole = PayloaderFixture.frames(try PayloaderFixture.packets(name))
    #expect(frames.map(\.bytes) == whole.dropLast().map(\.bytes))
  }

  @Test func `a frame that never ends is given up at its bound`() {
    var assembler = FrameAssembler()
    var frames: [EncodedFrame] = []
    let middle = [UInt8](arrayLiteral: 0x00) + [UInt8](repeating: 1, count: 60_000)
    for sequence in 0..<300 {
      let payload = sequence == 0 ? [0x10] + [UInt8](repeating: 0, count: 20) : middle
      assembler.add(
        FramePacket(
          sequence: Int64(sequence), timestamp: 1, marker: sequence == 299, format: .vp8,
          arrival: Instant(nanoseconds: 0), payload: payload), into: &frames)
    }
    #expect(frames.isEmpty && assembler.incomplete == 1)
  }

  @Test func `units that continue nothing, or don't end, make no frame`() {
    func frames(_ payloads: [[UInt8]], _ format: CodecFormat) -> [EncodedFrame] {
      PayloaderFixture.frames(
        payloads.enumerated().map { index, payload in
          FramePacket(
            sequence: Int64(index), timestamp: 1, marker: index == payloads.count - 1, format: format,
            arrival: Instant(nanoseconds: 0), payload: payload)
        })
    }
    let h264 = PayloaderFixture.format("h264")
    let sets: [UInt8] = [0x67, 0x42, 0xE0, 0x0A]
    #expect(frames([sets, [0x7C, 0x85, 1], [0x7C, 0x45, 2]], h264).count == 1)
    #expect(frames([sets, [0x7C, 0x85, 1], [0x7C, 0x05, 2]], h264).isEmpty)
    #expect(frames([sets, [0x7C, 0x05, 1], [0x7C, 0x45, 2]], h264).isEmpty)
    #expect(frames([sets, [0x7C, 0x85, 1], [0x7C, 0x85, 2]], h264).isEmpty)
    #expect(frames([sets, [0x7C, 0x85, 1], [0x65, 2]], h264).isEmpty)
    // AV1: a fragment is open at the end, or goes on where none was.
    let av1 = CodecFormat(.av1)
    let sequence: [UInt8] = [0x18, 0x0A, 0, 0, 0]
    #expect(frames([sequence, [0x10, 0x30, 0x10]], av1).count == 1)
    #expect(frames([sequence, [0x50, 0x30, 0x10]], av1).isEmpty)
    #expect(frames([sequence, [0x90, 0x10]], av1).isEmpty)
    #expect(frames([sequence, [0x00, 0x7F, 1]], av1).isEmpty)
  }

  @Test func `layers of size of VP9 come as one frame with an index`() throws {
    // Two layers of a key picture, the second of which refers to the first alone.
    let key: [UInt8] = [0x82, 0x49, 0x83, 0x42, 0x00, 0x03, 0xF0, 0x02, 0xF0]
    func packet(_ sequence: Int64, _ payload: [UInt8], marker: Bool) -> FramePacket {
      FramePacket(
        sequence: sequence, timestamp: 5, marker: marker, format: CodecFormat(.vp9),
        arrival: Instant(nanoseconds: 0), payload: payload)
    }
    let first: [UInt8] = [0xAC, 0x05, 0x00, 0x00] + key
    let second: [UInt8] = [0xEC, 0x05, 0x03, 0x00, 0xAA, 0xBB, 0xCC]
    let frames = PayloaderFixture.frames([packet(0, first, marker: false), packet(1, second, marker: true)])
    #expect(frames.count == 1)
    let index: [UInt8] = [0xC1, 9, 3, 0xC1]
    #expect(frames.first?.bytes == key + [0xAA, 0xBB, 0xCC] + index)
    #expect(frames.first?.isKeyFrame == true)
    // One of them alone is no picture where the mark says that there is another.
    #expect(PayloaderFixture.frames([packet(1, second, marker: true)]).isEmpty)
  }
}
