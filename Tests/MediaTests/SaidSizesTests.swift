import Model
import Testing

@testable import Media

/// How large pictures are of which no packet says it.
@Suite("Sizes that a publisher says", .timeLimit(.minutes(1)))
struct SaidSizesTests {
  private func agreed(_ sizes: [(rid: String?, width: UInt16)]) -> AgreedMedia {
    let encodings = sizes.map { rid, width in
      var encoding = ReceiveEncoding(rid: rid)
      encoding.picture = PictureSize(width: width, height: width == 0 ? 0 : 100)
      return encoding
    }
    return AgreedMedia(receive: [
      ReceiveSection(
        index: 0, mid: "0", kind: .video, codecs: [NegotiatedCodec(codec: .vp8, payloadType: 96)],
        extensions: HeaderExtensionMap(), encodings: encodings)
    ])
  }

  @Test func `they stand until others are said, and are none where none were`() {
    let person = Person(1, agreed([(nil, 0)]))
    var random = RandomSource.seeded(state: 1)
    var widths: [UInt16] = []
    for width in [0, 640, 0, 320, 0, 0] as [UInt16] {
      _ = person.session.apply(agreed([(nil, width)]), random: &random, context: &person.context)
      widths.append(person.session.description(ofTrack: 0, encoding: 0).said.width)
    }
    #expect(widths == [0, 640, 640, 320, 320, 320])
  }

  @Test func `of several encodings each keeps its own, by its name`() {
    let first = agreed([("f", 640), ("h", 320), ("q", 0)])
    let next = agreed([("q", 160), ("f", 0), ("h", 0)]).keepingSizes(of: first)
    #expect(next.receive[0].encodings.map(\.picture.width) == [160, 640, 320])
    let without = agreed([(nil, 0), (nil, 0)])
    #expect(without.keepingSizes(of: first).receive[0].encodings.map(\.picture.width) == [0, 0])
    let unnamed = agreed([(nil, 640), (nil, 320)])
    #expect(without.keepingSizes(of: unnamed).receive[0].encodings.map(\.picture.width) == [640, 320])
    #expect(agreed([(nil, 0)]).keepingSizes(of: unnamed).receive[0].encodings.map(\.picture.width) == [0])
    #expect(
      agreed([("f", 0)]).keepingSizes(of: AgreedMedia()).receive[0].encodings.map(\.picture.width) == [0])
  }

  @Test func `what is said between two descriptions holds, also behind one that says nothing`() throws {
    let person = Person(1, agreed([("f", 640), ("h", 320)]))
    func said() -> [UInt16] {
      (0..<2).map { person.session.description(ofTrack: 0, encoding: $0).said.width }
    }
    person.session.setSizes(track: 0, [PictureSize(width: 1_280, height: 720), PictureSize()])
    #expect(said() == [1_280, 320], "one that isn't named stays")
    // Of another number of encodings, or of no track of its own, it is out of date.
    person.session.setSizes(track: 0, [PictureSize(width: 9, height: 9)])
    for track in [-1, 1, 1_000_000] {
      person.session.setSizes(track: track, [PictureSize(width: 9, height: 9), PictureSize()])
    }
    #expect(said() == [1_280, 320])
    var random = RandomSource.seeded(state: 1)
    _ = person.session.apply(agreed([("f", 0), ("h", 0)]), random: &random, context: &person.context)
    #expect(said() == [1_280, 320])
    _ = person.session.apply(agreed([("f", 160), ("h", 0)]), random: &random, context: &person.context)
    #expect(said() == [160, 320])
  }
}
