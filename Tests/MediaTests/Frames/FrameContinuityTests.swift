import Media
import Model
import Testing

@Suite("Which frames can be decoded after a loss", .timeLimit(.minutes(1)))
struct FrameContinuityTests {
  static func frame(
    key: Bool = false, temporal: UInt8 = 0, base: UInt8? = nil, lost: Bool = false, sync: Bool = false,
    opens: Bool = false
  ) -> EncodedFrame {
    var frame = EncodedFrame(format: .vp8, timestamp: 0, bytes: [], arrival: Instant(nanoseconds: 0))
    frame.isKeyFrame = key
    frame.followsLoss = lost
    frame.layer.temporal = temporal
    frame.layer.baseIndex = base
    frame.layer.refersToBase = sync
    frame.layer.opensAbove = opens
    return frame
  }

  /// The value behind a reference, so that it can be asked within an expectation.
  final class Run {
    private var continuity = FrameContinuity()
    func admit(_ frame: EncodedFrame) -> Bool { continuity.admit(frame) }
    var needsKeyFrame: Bool { continuity.needsKeyFrame }
  }

  @Test func `nothing can be decoded before the first key frame`() {
    let continuity = Run()
    #expect(!continuity.admit(Self.frame()))
    #expect(continuity.needsKeyFrame)
    #expect(continuity.admit(Self.frame(key: true)))
    #expect(!continuity.needsKeyFrame)
    #expect(continuity.admit(Self.frame()))
  }

  @Test func `without layers a loss takes everything until the next key frame`() {
    let continuity = Run()
    #expect(continuity.admit(Self.frame(key: true)))
    #expect(!continuity.admit(Self.frame(lost: true)))
    #expect(!continuity.admit(Self.frame()))
    #expect(continuity.needsKeyFrame)
    #expect(continuity.admit(Self.frame(key: true, lost: true)))
    #expect(continuity.admit(Self.frame()))
  }

  @Test
  func
    `a loss in a higher layer leaves the lowest, and the higher comes back where it refers to nothing lost`()
  {
    let continuity = Run()
    #expect(continuity.admit(Self.frame(key: true, base: 254)))
    #expect(continuity.admit(Self.frame(temporal: 1, base: 254)))
    #expect(continuity.admit(Self.frame(base: 255)))
    // A frame of layer 1 was lost here: the lowest layer counts on.
    #expect(continuity.admit(Self.frame(base: 0, lost: true)))
    #expect(!continuity.admit(Self.frame(temporal: 1, base: 0)))
    #expect(continuity.admit(Self.frame(base: 1)))
    #expect(continuity.admit(Self.frame(temporal: 1, base: 1, sync: true)))
    #expect(!continuity.admit(Self.frame(temporal: 2, base: 1)))
    #expect(!continuity.needsKeyFrame)
  }

  @Test func `a loss in the lowest layer takes everything, however the others are marked`() {
    let continuity = Run()
    #expect(continuity.admit(Self.frame(key: true, base: 7)))
    #expect(!continuity.admit(Self.frame(base: 9, lost: true)))
    #expect(!continuity.admit(Self.frame(temporal: 1, base: 9, sync: true)))
    #expect(!continuity.admit(Self.frame(base: 10)))
    #expect(continuity.needsKeyFrame)
  }

  @Test func `a picture of VP9 behind which one may go up opens all layers again`() {
    let continuity = Run()
    #expect(continuity.admit(Self.frame(key: true, base: 7)))
    #expect(continuity.admit(Self.frame(base: 8, lost: true, opens: true)))
    #expect(continuity.admit(Self.frame(temporal: 2, base: 8)))
  }

  @Test func `an index that never counts is no loss where nothing was lost`() {
    let continuity = Run()
    #expect(continuity.admit(Self.frame(key: true, base: 0)))
    for _ in 0..<3 { #expect(continuity.admit(Self.frame(base: 0))) }
  }
}
