import Model
import Testing

@testable import Media

@Suite("Which packets of an encoding are shown", .timeLimit(.minutes(1)))
struct LayerFilterTests {
  private func packet(
    _ timestamp: UInt32, spatial: UInt8 = 0, temporal: UInt8 = 0, _ flags: PacketInfo.Flags,
    format: CodecFormat = .vp8
  ) -> PacketInfo {
    var info = PacketInfo()
    info.format = format
    info.primaryFormat = format
    info.timestamp = timestamp
    info.layer.spatial = spatial
    info.layer.temporal = temporal
    info.flags = flags
    return info
  }

  /// Where layers of size have their frames of one moment in different layers of frame rate (L2T2_KEY_SHIFT), the lower one may be free
  /// while the one above it is not.
  @Test func `a frame that is shed takes none along that others refer to`() {
    var filter = LayerFilter()
    filter.want(spatial: 1, temporal: 1)
    filter.join()
    _ = filter.begin(packet(0, [.keyFrame, .frameStart]))
    _ = filter.judge(packet(0, spatial: 1, [.beginsSpatialLayer, .frameStart, .endsLayerFrame]))
    let free = packet(1, temporal: 1, [.frameStart, .discardable])
    filter.shed(free)
    #expect(filter.judge(free) == .isLeftOut)
    #expect(filter.judge(packet(1, temporal: 1, [.discardable, .endsLayerFrame])) == .isLeftOut)
    let above = packet(1, spatial: 1, [.frameStart])
    filter.shed(above)
    #expect(filter.judge(above) == .passes)
    #expect(filter.judge(packet(1, spatial: 1, [.endsLayerFrame])) == .ends)
    // The next picture is judged by itself.
    #expect(filter.judge(packet(2, [.frameStart])) == .passes)
  }

  @Test
  func
    `a free picture of VP8 that begins its layer isn't shed where receivers count by the lowest one's index`()
  {
    var filter = LayerFilter()
    filter.join()
    var free = packet(1, temporal: 2, [.frameStart, .discardable, .switchingPoint])
    (free.format, free.tl0PictureIndexOffset) = (.vp8, 4)
    filter.shed(free)
    #expect(filter.judge(free) != .isLeftOut)
    free.tl0PictureIndexOffset = 0
    free.timestamp = 2
    filter.shed(free)
    #expect(filter.judge(free) == .isLeftOut)
  }

  @Test func `a frame that is shed is forgotten where the source is joined again`() {
    var filter = LayerFilter()
    filter.join()
    filter.shed(packet(1, [.frameStart, .discardable]))
    #expect(filter.isActive)
    filter.join()
    #expect(!filter.isActive)
    #expect(filter.judge(packet(1, [.keyFrame, .frameStart])) != .isLeftOut)
  }

  @Test func `what of a picture is free above a shed frame goes with it`() {
    var filter = LayerFilter()
    filter.join()
    let free = packet(1, [.frameStart, .discardable])
    filter.shed(free)
    #expect(filter.judge(free) == .isLeftOut)
    #expect(filter.judge(packet(1, spatial: 1, [.frameStart, .discardable])) == .isLeftOut)
  }

  /// An access unit delimiter or a message in a packet of its own doesn't say that its slices are free.
  @Test(arguments: [CodecFormat(.h264), CodecFormat(.h265)])
  func `of a picture that has begun the rest is shown as well`(
    format: CodecFormat
  ) {
    var filter = LayerFilter()
    filter.want(spatial: 0, temporal: 0)
    filter.join()
    #expect(filter.judge(packet(1, [], format: format)) == .passes)
    #expect(filter.judge(packet(1, temporal: 1, [.frameStart, .discardable], format: format)) == .passes)
    #expect(
      filter.judge(packet(1, temporal: 1, [.discardable, .endsLayerFrame], format: format)) != .isLeftOut)
    #expect(filter.judge(packet(2, temporal: 1, [.frameStart, .discardable], format: format)) == .isLeftOut)
    #expect(filter.judge(packet(2, temporal: 1, [.discardable], format: format)) == .isLeftOut)
    // Nor is a picture shed that has begun.
    #expect(filter.judge(packet(3, [], format: format)) == .passes)
    let free = packet(3, [.frameStart, .discardable], format: format)
    filter.shed(free)
    #expect(filter.judge(free) == .passes)
  }
}

@Suite("Key frames that a subscriber asks for", .timeLimit(.minutes(1)))
struct KeyFrameAllowanceTests {
  private static func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

  @Test
  func `the first counts at once, those that follow ever more seldom, and after a calm it begins again`() {
    var allowance = KeyFrameAllowance()
    var taken: [Double] = []
    for tenth in 0..<300 {
      let now = 5 + Double(tenth) / 10
      if allowance.take(now: Self.at(now)) { taken.append(now - 5) }
    }
    #expect(taken.prefix(4) == [0, 1, 3, 7] || taken.prefix(4) == [0, 0.5, 1.5, 3.5])
    #expect(zip(taken.dropFirst(4), taken.dropFirst(5)).allSatisfy { abs($1 - $0 - 4) < 0.15 })
    #expect(taken.count <= 11)
    let early = allowance.take(now: Self.at(5 + 29.95))
    #expect(!early)
    let calm = [60.0, 60.6].map { allowance.take(now: Self.at($0)) }
    #expect(calm == [true, true])
  }
}
