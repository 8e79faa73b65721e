import Media
import Model
import Testing
import Wire

@Suite("Packets out of frames", .timeLimit(.minutes(1)))
struct PacketizerTests {
  static func packets(_ payloads: [[Packetizer.Payload]], _ format: CodecFormat) -> [FramePacket] {
    var packets: [FramePacket] = []
    for (frame, payloads) in payloads.enumerated() {
      for payload in payloads {
        packets.append(
          FramePacket(
            sequence: Int64(packets.count), timestamp: UInt32(frame * 3_000), marker: payload.marker,
            format: format, arrival: Instant(nanoseconds: 0), payload: payload.bytes))
      }
    }
    return packets
  }

  static func originals(_ name: String) throws -> [[UInt8]] {
    name == "h264" ? try FrameAssemblerTests.pictures() : try FrameAssemblerTests.originals(name)
  }

  @Test(arguments: ["vp8", "vp9", "av1", "h264"], [64, 65, 200, 1_180])
  func `frames come together again as they were, whatever fits into a packet`(name: String, maximum: Int)
    throws
  {
    let format = PayloaderFixture.format(name)
    var packetizer = try #require(Packetizer(format.codec, maximum: maximum, pictureID: 0x7FFE))
    let originals = try Self.originals(name)
    let payloads = originals.map { packetizer.payloads(of: $0) }
    for payload in payloads.joined() { #expect(payload.bytes.count <= maximum) }
    for frame in payloads { #expect(frame.filter(\.marker).count == 1 && frame.last?.marker == true) }
    let frames = PayloaderFixture.frames(Self.packets(payloads, format))
    #expect(frames.count == originals.count)
    // Delimiters of AV1 don't travel.
    let wanted = name == "av1" ? originals.map { Array($0.dropFirst($0[0] == 0x12 ? 2 : 0)) } : originals
    #expect(frames.map(\.bytes) == wanted)
    #expect(frames.map(\.isKeyFrame) == (0..<10).map { $0 % 5 == 0 })
  }

  @Test(arguments: ["vp8", "vp9", "av1", "h264"])
  func `the server reads of its packets where a frame and a key frame begins`(name: String) throws {
    let format = PayloaderFixture.format(name)
    var packetizer = try #require(Packetizer(format.codec, maximum: 300))
    for (index, original) in try Self.originals(name).enumerated() {
      for (place, payload) in packetizer.payloads(of: original).enumerated() {
        try payload.bytes.withUnsafeBytes { bytes in
          let (starts, isKey): (Bool, Bool)
          switch format.codec {
          case .vp8:
            let read = try VP8Descriptor(bytes)
            (starts, isKey) = (read.startsFrame, read.startsKeyFrame(bytes))
            #expect(Int(read.pictureID) == index && read.pictureIDIsLong)
          case .vp9:
            let read = try VP9Descriptor(bytes)
            (starts, isKey) = (read.startsPicture, read.startsKeyFrame)
            if isKey {
              #expect(VP9Scalability(bytes, read)?.pictures[0] == PictureSize(width: 64, height: 48))
            }
          case .av1:
            let read = try AV1Payload(bytes)
            (starts, isKey) = (place == 0, read.startsKeyFrame)
            if isKey { #expect(AV1SequenceHeader.pictureSize(bytes, read) != nil) }
          default:
            let read = try H264Payload(bytes)
            (starts, isKey) = (place == 0, read.startsKeyFrame)
          }
          #expect(starts == (place == 0))
          // ffmpeg's H.264 has its parameter sets beside the track.
          if format.codec != .h264 { #expect(isKey == (place == 0 && index % 5 == 0)) }
        }
      }
    }
  }

  @Test func `small units of H.264 share a packet, with the most important mark`() throws {
    var packetizer = try #require(Packetizer(.h264))
    let frame: [UInt8] = [0, 0, 0, 2, 0x67, 1, 0, 0, 0, 2, 0x48, 2, 0, 0, 0, 1, 0x06]
    let payloads = packetizer.payloads(of: frame)
    #expect(payloads.map(\.bytes) == [[0x78, 0, 2, 0x67, 1, 0, 2, 0x48, 2, 0, 1, 0x06]])
    #expect(packetizer.payloads(of: [0, 0, 0, 2, 0x41, 7]).map(\.bytes) == [[0x41, 7]])
  }

  @Test func `what is no frame of its codec makes no packet`() throws {
    for (codec, bytes): (Codec, [UInt8]) in [
      (.vp9, [0]), (.h264, [0, 0, 0, 9, 1]), (.av1, [0x12, 0x05]), (.vp8, []), (.av1, [0x80]),
    ] {
      var packetizer = try #require(Packetizer(codec))
      #expect(packetizer.payloads(of: bytes).isEmpty, "\(codec)")
    }
    #expect(Packetizer(.red) == nil && Packetizer(.h265) == nil)
  }

  @Test func `a packet of sound goes as it is`() throws {
    var packetizer = try #require(Packetizer(.opus, maximum: 64))
    let packet = [UInt8](repeating: 7, count: 500)
    #expect(packetizer.payloads(of: packet) == [Packetizer.Payload(bytes: packet, marker: false)])
  }
}
