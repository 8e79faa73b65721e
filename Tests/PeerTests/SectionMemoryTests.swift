import Model
import Testing

@testable import Media
@testable import Peer
@testable import Transport

@Suite("Memory of tracks and slots that are gone", .timeLimit(.minutes(1)))
struct SectionMemoryTests {
  /// As docs/bounds.md has it: so much stays for each index that was used, until the transport ends.
  @Test func `an index that was used keeps no more than the bound says`() {
    let size =
      MemoryLayout<ReceivingSection>.stride + MemoryLayout<SendingSlot>.stride
      + MemoryLayout<SealedStreams>.stride
    #expect(size <= 13 * 1_024)
  }

  @Test func `a slot that is gone keeps none of its packets`() throws {
    // Of who asks again and has no stream for retransmissions, sealed packets are kept.
    var section = ConnectedPeer.slot(0)
    section.codecs = section.codecs.map { codec in
      var codec = codec
      codec.nack = true
      codec.rtxPayloadType = nil
      return codec
    }
    section.rtxSSRC = nil
    let far = try ConnectedPeer(AgreedMedia(send: [section]))
    #expect(far.keepsPackets(slot: 0))
    far.apply(AgreedMedia())
    #expect(!far.keepsPackets(slot: 0))
  }
}
