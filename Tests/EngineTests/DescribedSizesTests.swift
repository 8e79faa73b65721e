import Congestion
import Model
import Testing

@testable import Engine

/// From the dependency descriptors of AV1 to the sizes of what is chosen from. No payload here can be read, as of frames that are encrypted
/// end to end.
@Suite("Sizes of AV1 by dependency descriptors", .timeLimit(.minutes(1)))
struct DescribedSizesTests {
  private static let sizes = [
    PictureSize(width: 320, height: 180), PictureSize(width: 640, height: 360),
    PictureSize(width: 1_280, height: 720),
  ]

  private static func words(_ options: [LayerOption]) -> [String] {
    options.map { "\($0.encoding) S\($0.spatial): \($0.width)x\($0.height)" }
  }

  /// A key frame and a picture behind it have come, and were looked at.
  private func show(
    _ stage: PublishedPictures, encoding: Int = 0, layers: Int = 1, _ sizes: [PictureSize]
  ) -> [String] {
    stage.picture(encoding: encoding, layers: layers, structure: sizes)
    stage.look()
    stage.picture(encoding: encoding, layers: layers)
    stage.look()
    return Self.words(stage.options())
  }

  @Test func `each layer has the size that its key frame's structure says`() throws {
    for layers in 1...3 {
      let stage = try PublishedPictures([(.av1, 1)])
      let found = show(stage, layers: layers, Array(Self.sizes.prefix(layers)))
      let expected = ["0 S0: 320x180", "0 S1: 640x360", "0 S2: 1280x720"].prefix(layers)
      #expect(found == Array(expected))
    }
  }

  @Test func `a key frame that says no size leaves the one that is known, others replace it`() throws {
    let stage = try PublishedPictures([(.av1, 1)])
    #expect(show(stage, []) == ["0 S0: 0x0"], "nothing says it yet")
    #expect(show(stage, [Self.sizes[1]]) == ["0 S0: 640x360"])
    #expect(show(stage, []) == ["0 S0: 640x360"])
    #expect(show(stage, [Self.sizes[2]]) == ["0 S0: 1280x720"])
    #expect(show(stage, [Self.sizes[0]]) == ["0 S0: 320x180"])
  }

  @Test func `a descriptor that is cut off says nothing, and nothing of its packet is known`() throws {
    let stage = try PublishedPictures([(.av1, 1)])
    let before = show(stage, layers: 3, Self.sizes)
    let larger = Self.sizes.map { PictureSize(width: 2 * $0.width, height: 2 * $0.height) }
    let whole = PublishedPictures.structure(100, layers: 3, sizes: larger)
    for count in 4..<whole.count {
      let cut = [(id: PublishedPictures.descriptorID, bytes: Array(whole.prefix(count)))]
      #expect(stage.send(cut, payload: PublishedPictures.unreadable) == nil, "\(count) of \(whole.count)")
    }
    stage.picture(layers: 3)
    stage.look()
    #expect(Self.words(stage.options()) == before)
  }

  @Test func `each encoding has its own sizes, by which the smaller comes first`() throws {
    let stage = try PublishedPictures([(.av1, 2)])
    _ = show(stage, encoding: 0, [Self.sizes[1]])
    #expect(show(stage, encoding: 1, [Self.sizes[0]]) == ["1 S0: 320x180", "0 S0: 640x360"])
  }
}
