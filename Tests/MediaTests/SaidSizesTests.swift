import Model
import Testing

@testable import Media

/// How large pictures are of which no packet says it.
@Suite("Sizes that a publisher says", .timeLimit(.minutes(1)))
struct SaidSizesTests {
  private func agreed(_ picture: PictureSize) -> ReceiveSection {
    var section = ReceiveSection(
      index: 0, mid: "0", kind: .video, codecs: [NegotiatedCodec(codec: .vp8, payloadType: 96)],
      extensions: HeaderExtensionMap())
    section.encodings[0].picture = picture
    return section
  }

  @Test func `they stand until others are said, and are none where none were said`() {
    var section = ReceivingSection()
    section.describe(agreed(PictureSize()), clock: 0)
    #expect(section.description(of: 0).picture == PictureSize())
    section.describe(agreed(PictureSize(width: 640, height: 360)), clock: 0)
    #expect(section.description(of: 0).picture == PictureSize(width: 640, height: 360))
    #expect(section.description(of: 0).picture(spatial: 2) == PictureSize(width: 640, height: 360))
    section.describe(agreed(PictureSize()), clock: 0)
    #expect(section.description(of: 0).picture == PictureSize(width: 640, height: 360), "as it was said")
    section.describe(agreed(PictureSize(width: 320, height: 180)), clock: 0)
    #expect(section.description(of: 0).picture == PictureSize(width: 320, height: 180))
  }

  @Test func `what a key frame says goes before`() {
    var section = ReceivingSection()
    section.describe(agreed(PictureSize(width: 640, height: 360)), clock: 0)
    section.encoding(0).pointee.receiver.pictures.set(PictureSize(width: 1_280, height: 720))
    #expect(section.description(of: 0).picture == PictureSize(width: 1_280, height: 720))
  }
}
