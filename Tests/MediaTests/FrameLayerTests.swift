import Media
import Model
import Testing
import Wire

/// Layers that a codec's own headers tell.
@Suite("Layers of frames without a descriptor", .timeLimit(.minutes(1)))
struct FrameLayerTests {
  private final class Reader {
    var receiver: TrackReceiver
    var sequence: UInt16 = 100
    var timestamp: UInt32 = 0

    init(_ format: CodecFormat) {
      var media = section(.video)
      media.codecs = [NegotiatedCodec(format: format, payloadType: 96, nack: true, pli: true)]
      receiver = TrackReceiver(media)
    }

    func take(_ payload: [UInt8], ends: Bool = true) -> PacketInfo? {
      sequence += 1
      if ends { timestamp += 3_000 }
      return receiver.take(
        RTPPacket(sequence: sequence, timestamp: timestamp, marker: ends, payload: payload).bytes
      ).outcome.info
    }
  }

  @Test func `frames of H.264 that no other refers to are a layer that may be taken up at any of them`()
    throws
  {
    let reader = Reader(try #require(CodecFormat.h264(.constrainedBaseline, mode: 1)))
    let base = try #require(reader.take([0x41, 0x9A, 1]))
    #expect(base.layer == LayerID() && !base.isSwitchingPoint && !base.isDiscardable)
    for payload: [UInt8] in [[0x01, 0x9A, 1], [0x1C, 0x81, 0x9A], [0x1C, 0x41, 0x9A]] {
      let upper = try #require(reader.take(payload))
      #expect(upper.layer.temporal == 1 && upper.isSwitchingPoint && upper.isDiscardable)
    }
    // What stands before a frame says nothing of it.
    let words = try #require(reader.take([0x06, 5, 1]))
    #expect(words.layer == LayerID() && !words.isDiscardable)
  }

  @Test func `a prefix of H.264 says which layer it is`() throws {
    let reader = Reader(try #require(CodecFormat.h264(.constrainedBaseline, mode: 1)))
    let prefix: [UInt8] = [0x6E, 0xC0, 0x80, 2 << 5 | 7]
    let third = try #require(reader.take([0x78, 0, 4] + prefix + [0, 2, 0x61, 0x9A]))
    #expect(third.layer.temporal == 2 && !third.isDiscardable && !third.isSwitchingPoint)
    let top = try #require(reader.take([0x18, 0, 4, 0x0E, 0xC0, 0x80, 3 << 5 | 7, 0, 2, 0x01, 0x9A]))
    #expect(
      top.layer.temporal == 3 && top.isDiscardable && !top.isSwitchingPoint, "it may refer to the one below")
  }

  @Test func `a parameter set of H.264 has the picture's size`() throws {
    let reader = Reader(try #require(CodecFormat.h264(.high, mode: 1)))
    let unit: [UInt8] = [
      0x67, 0x64, 0x00, 0x1F, 0xAC, 0xD9, 0x40, 0x50, 0x05, 0xBB, 0x01, 0x10, 0x00, 0x00, 0x03, 0x00, 0x10,
      0x00,
      0x00, 0x03, 0x03, 0xC0, 0xF1, 0x83, 0x19, 0x60,
    ]
    let key = try #require(
      reader.take([0x78, 0, UInt8(unit.count)] + unit + [0, 2, 0x68, 0xCE], ends: false))
    #expect(key.flags.contains([.keyFrame, .frameStart]))
    #expect(reader.receiver.pictures.picture == PictureSize(width: 1_280, height: 720))
    _ = reader.take([0x67, 0x42, 0, 0x1E])
    #expect(
      reader.receiver.pictures.picture == PictureSize(width: 1_280, height: 720),
      "one that is cut changes nothing")
  }

  /// A payload of VP9 in flexible mode, of one layer of size.
  private func vp9(_ spatial: UInt8, refers: Bool, isLast: Bool = true, sizes: [UInt8] = [], isNotAbove: Bool)
    -> [UInt8]
  {
    let flags: UInt8 = 0xB8 | (refers ? 0x40 : 0) | 0x04 | (sizes.isEmpty ? 0 : 2) | (isNotAbove ? 1 : 0)
    return [flags, 0x92, 0x34, spatial << 1] + (refers ? [2] : []) + sizes + [1, 2, 3]
  }

  @Test
  func
    `lower layers of VP9 that are not referred to above are not needed there, as long as there is one above`()
    throws
  {
    let reader = Reader(CodecFormat(.vp9))
    let sizes: [UInt8] = [0x30, 1, 64, 0, 180, 2, 128, 1, 104]
    _ = reader.take(vp9(0, refers: false, sizes: sizes, isNotAbove: false), ends: false)
    let upper = try #require(reader.take(vp9(1, refers: false, isNotAbove: true)))
    #expect(upper.flags.contains(.topSpatialLayer) && !upper.flags.contains(.notNeededAbove))
    #expect(reader.receiver.pictures.picture == PictureSize(width: 640, height: 360))
    #expect(reader.receiver.pictures.picture(spatial: 0) == PictureSize(width: 320, height: 180))
    let lower = try #require(reader.take(vp9(0, refers: true, isNotAbove: true), ends: false))
    #expect(lower.flags.contains(.notNeededAbove) && !lower.flags.contains(.topSpatialLayer))
    _ = reader.take(vp9(1, refers: true, isNotAbove: true))
    // The encoder has dropped the upper layer: two pictures end with the lower one.
    for _ in 0..<2 { _ = reader.take(vp9(0, refers: true, isNotAbove: true)) }
    let alone = try #require(reader.take(vp9(0, refers: true, isNotAbove: true)))
    #expect(alone.flags.contains(.topSpatialLayer) && !alone.flags.contains(.notNeededAbove))
  }
}
