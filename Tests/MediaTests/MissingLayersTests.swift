import Model
import Testing

@testable import Media

/// What a stream leaves out where something of its layers of frame rate is missing.
@Suite("Layers that are missing", .timeLimit(.minutes(1)))
struct MissingLayersTests {
  private func packet(
    _ timestamp: UInt32, _ temporal: UInt8, _ flags: PacketInfo.Flags = [], opens: UInt8 = 0,
    _ format: CodecFormat = .vp8
  ) -> PacketInfo {
    var info = PacketInfo()
    (info.format, info.primaryFormat) = (format, format)
    info.timestamp = timestamp
    info.layer.temporal = temporal
    info.layer.opens = opens
    info.flags = flags
    return info
  }

  private func cut(_ temporal: UInt8, _ timestamp: UInt32) -> LayerFilter {
    var missing = MissingLayers()
    missing.cut(from: temporal, picture: timestamp)
    var filter = LayerFilter()
    filter.lack(missing)
    return filter
  }

  /// Whether they are shown.
  private func shown(_ filter: inout LayerFilter, _ packets: [PacketInfo]) -> [Bool] {
    packets.map { filter.judge($0) != .isLeftOut }
  }

  @Test func `layers below go on, and each one above where it begins again`() {
    var filter = cut(1, 10)
    #expect(filter.isActive)
    let packets = [
      packet(10, 1, [.switchingPoint]), packet(11, 2), packet(12, 0), packet(13, 1),
      packet(14, 2, [.switchingPoint]), packet(15, 2), packet(16, 1, [.switchingPoint]), packet(17, 2),
      packet(18, 1),
    ]
    // The rest of the picture that was cut begins nothing; 15 may refer to layer 1, and 17 to 15.
    let first = shown(&filter, packets)
    #expect(first == [false, false, true, false, true, false, true, false, true])
    var higher = cut(2, 10)
    let second = shown(
      &higher, [packet(11, 1), packet(12, 2), packet(13, 2, [.switchingPoint]), packet(14, 2)])
    #expect(second == [true, false, true, true])
  }

  @Test func `a picture that needs the layer below begins its own only where that one is whole`() {
    let format = CodecFormat(.h265)
    var filter = cut(1, 10)
    let packets = [
      packet(11, 2, [.switchesFromBelow], format), packet(12, 1, [.switchingPoint], format),
      packet(13, 2, [], format), packet(14, 2, [.switchesFromBelow], format), packet(15, 2, [], format),
    ]
    let judged = shown(&filter, packets)
    #expect(judged == [false, true, false, true, true])
  }

  @Test func `a frame that opens layers opens those behind it`() {
    let format = CodecFormat(.vp9)
    var filter = cut(1, 10)
    let ends: PacketInfo.Flags = [.endsLayerFrame, .topSpatialLayer]
    let packets = [
      packet(11, 2, ends, opens: 0xF8, format), packet(12, 0, ends, format), packet(13, 1, ends, format),
      packet(14, 0, ends, opens: 0xFE, format), packet(15, 2, ends, format), packet(16, 1, ends, format),
    ]
    let judged = shown(&filter, packets)
    #expect(judged == [false, true, false, true, true, true] && !filter.isActive)
  }

  @Test func `with a key frame nothing is missing`() {
    var filter = cut(1, 10)
    let judged = shown(&filter, [packet(11, 0, [.keyFrame, .frameStart]), packet(12, 2)])
    #expect(judged == [true, true])
  }

  /// That the frame of the higher layer doesn't need the middle one says nothing of the middle one's own.
  @Test func `a layer that was passed over on the way up isn't shown before it begins`() {
    var filter = LayerFilter()
    filter.want(spatial: .max, temporal: 0)
    filter.join()
    _ = filter.begin(packet(0, 0, [.keyFrame, .frameStart]))
    filter.want(spatial: .max, temporal: .max)
    let packets = [
      packet(1, 2, [.switchingPoint]), packet(2, 1), packet(3, 2), packet(4, 1, [.switchingPoint]),
      packet(5, 2),
    ]
    let judged = shown(&filter, packets)
    #expect(judged == [true, false, false, true, true])
  }

  @Test func `a filter from its bytes takes up what was missing as what was given up`() throws {
    var filter = cut(1, 10)
    var writer = StateWriter()
    filter.encode(into: &writer)
    var reader = StateReader(writer.bytes)
    filter = try LayerFilter(from: &reader, hasKeys: true)
    let judged = shown(
      &filter, [packet(11, 0), packet(12, 1), packet(13, 1, [.switchingPoint]), packet(14, 1)])
    #expect(judged == [true, false, true, true])
  }

  @Test func `a source returns to the layers that it has begun twice since its last key frame`() {
    var layers = BegunLayers()
    let key = packet(1, 0, [.keyFrame], opens: 7)
    layers.note(key)
    layers.note(packet(1, 0, opens: 7))
    for number in 2...5 as ClosedRange<UInt32> { layers.note(packet(number, UInt8(number % 3))) }
    #expect(!layers.returns(from: 1, upTo: .max), "a key frame begins them as it is")
    #expect(layers.returns(from: 1, upTo: 0), "none of them is shown")
    // Two packets of one picture begin once.
    for number: UInt32 in [6, 6] { layers.note(packet(number, 2, [.switchingPoint])) }
    #expect(!layers.returns(from: 2, upTo: .max), "once is the beginning that may be cut itself")
    layers.note(packet(7, 2, [.switchingPoint]))
    #expect(layers.returns(from: 2, upTo: .max) && !layers.returns(from: 1, upTo: .max))
    for number: UInt32 in [8, 9] { layers.note(packet(number, 1, [.switchingPoint])) }
    #expect(layers.returns(from: 1, upTo: .max))
    layers.note(packet(10, 0, [.keyFrame]))
    layers.note(packet(11, 1))
    #expect(!layers.returns(from: 1, upTo: .max))
    layers.note(packet(12, 0, opens: 0b110))
    #expect(!layers.returns(from: 1, upTo: .max))
    layers.note(packet(13, 0, opens: 0b110))
    #expect(layers.returns(from: 1, upTo: .max))
  }

  @Test func `cut at 1, blocked at 1 and 4 s later, a key frame is needed, and with it no more`() {
    var filter = cut(1, 10)
    let first = shown(&filter, [packet(90_000, 1), packet(450_000, 1)])
    #expect(first == [false, false])
    #expect(!filter.needsKeyFrame, "it is four seconds, and no more")
    let lowest = shown(&filter, [packet(453_000, 0)])
    #expect(lowest == [true])
    #expect(!filter.needsKeyFrame, "what is shown is no reason")
    let later = shown(&filter, [packet(456_000, 1)])
    #expect(later == [false])
    #expect(filter.needsKeyFrame)
    let begun = shown(&filter, [packet(459_000, 0, [.keyFrame, .frameStart]), packet(462_000, 1)])
    #expect(begun == [true, true])
    #expect(!filter.needsKeyFrame && !filter.isActive)
  }

  @Test func `cut at 1, blocked, shown again, cut later, the four seconds begin with the second`() {
    var filter = cut(1, 10)
    let first = shown(&filter, [packet(90_000, 1), packet(93_000, 1, [.switchingPoint])])
    #expect(first == [false, true])
    var missing = MissingLayers()
    missing.cut(from: 1, picture: 600_000)
    filter.lack(missing)
    let second = shown(&filter, [packet(603_000, 1)])
    #expect(second == [false])
    #expect(!filter.needsKeyFrame)
  }

  /// libwebrtc asks of a frame that begins nothing that each layer from 0 up to its own has an id above the one that is missing.
  @Test func `left in part, sync of 1, plain 1, 0, sync of 1, plain 1: only syncs before the lowest`() {
    var missing = MissingLayers()
    missing.cut(from: 1, picture: 10, inPart: true)
    var filter = LayerFilter()
    filter.lack(missing)
    let packets = [
      packet(11, 1, [.switchingPoint]), packet(12, 1), packet(13, 0), packet(14, 1),
      packet(15, 1, [.switchingPoint]), packet(16, 1),
    ]
    let judged = shown(&filter, packets)
    #expect(judged == [true, false, true, false, true, true])
  }
}
