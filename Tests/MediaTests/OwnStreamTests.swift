import Model
import Testing

@testable import Media

@Suite("Streams of ours that reports name", .timeLimit(.minutes(1)))
struct OwnStreamTests {
  private func section(_ index: UInt16, _ ssrc: UInt32, repairs: Bool) -> SendSection {
    SendSection(
      index: index, mid: "s\(index)", kind: .video,
      codecs: [
        NegotiatedCodec(codec: .vp8, payloadType: 100, rtxPayloadType: repairs ? 101 : nil, nack: true)
      ],
      extensions: HeaderExtensionMap(), ssrc: ssrc, rtxSSRC: repairs ? ssrc + 1 : nil, cname: "us",
      streamID: "s\(index)")
  }

  /// The first of all slots that are there under the SSRC, one by one.
  private func found(_ ssrc: UInt32, of person: Person) -> (media: Int?, isRTX: Bool) {
    var (media, isRTX): (Int?, Bool) = (nil, false)
    for index in 0..<person.session.slots.count {
      let slot = person.session.slots.pointer(index)
      guard slot.pointee.isAgreed else { continue }
      if media == nil, slot.pointee.section.ssrc == ssrc { media = index }
      if slot.pointee.section.rtxSSRC == ssrc { isRTX = true }
    }
    return (media, isRTX)
  }

  @Test(arguments: 1...20) func `a stream is found as among all slots, whatever was agreed on since`(
    seed: Int
  ) {
    var random = RandomSource.seeded(state: UInt64(seed))
    let person = Person(9, AgreedMedia())
    var sections: [SendSection] = []
    var next: UInt32 = 1_000
    var known: [UInt32] = [0]
    for _ in 0..<30 {
      // Some go, some come, in places that were there before or behind them.
      sections.removeAll { _ in random.next() % 4 == 0 }
      for _ in 0..<random.next() % 5 {
        let index = UInt16(random.next() % 24)
        guard !sections.contains(where: { $0.index == index }) else { continue }
        sections.append(section(index, next, repairs: random.next() % 3 > 0))
        known += [next, next + 1, next + 2]
        next += 3
      }
      _ = person.session.apply(AgreedMedia(send: sections), random: &random, context: &person.context)
      for ssrc in known {
        let (media, isRTX) = found(ssrc, of: person)
        let slot = person.session.slot(ofSSRC: ssrc)
        let repairs = person.session.isRTX(ssrc)
        #expect(slot == media && repairs == isRTX, "\(ssrc)")
      }
    }
    let count = person.session.slots.count
    #expect(count > 12)
  }
}
