import CSystem
import Model
import Testing

@testable import Media
@testable import Peer
@testable import Transport

/// Run apart and one after the other, since memory is the whole process's.
@Suite("Memory of tracks and slots that are gone", .serialized, .timeLimit(.minutes(1)))
struct SectionMemoryTests {
  /// As docs/bounds.md has it: so much stays for each index that was used, until the transport ends.
  @Test func `an index that was used keeps no more than the bound says`() {
    let size =
      MemoryLayout<ReceivingSection>.stride + MemoryLayout<ReceivedEncoding>.stride
      + MemoryLayout<SendingSlot>.stride
      + MemoryLayout<SealedStreams>.stride
    #expect(size <= 16 * 1_024)
  }

  /// Bytes that the process has allocated.
  private static func allocated() -> Int {
    let info = mallinfo2()
    return Int(info.uordblks + info.hblkhd)
  }

  /// 64 sections each way, of sound and picture, with indices that none before had.
  private static func sections(_ round: UInt16) -> AgreedMedia {
    let indices = (round * 64)..<(round * 64 + 64)
    return AgreedMedia(
      receive: indices.map {
        ConnectedPeer.section($0, $0 % 2 == 0 ? .video : .audio, ssrc: 100_000 + UInt32($0))
      },
      send: indices.map { ConnectedPeer.slot($0, $0 % 2 == 0 ? .video : .audio) })
  }

  @Test func `a thousand sections that come and go in one transport keep at most 16 KiB each`() throws {
    let far = try ConnectedPeer(AgreedMedia())
    let (rounds, packets) = (UInt16(16), UInt16(40))
    func use(_ round: UInt16) {
      far.apply(Self.sections(round))
      // What a section learns from its packets goes with it as well.
      for index in (round * 64)..<(round * 64 + 64) {
        for number in 0..<packets {
          far.send(ssrc: 100_000 + UInt32(index), payloadType: index % 2 == 0 ? 96 : 111, sequence: number)
        }
      }
    }
    let before = Self.allocated()
    for round in 0..<rounds { use(round) }
    far.apply(AgreedMedia())
    let kept = Self.allocated() - before
    #expect(far.receiverCount == 1_024 && far.slotCount == 1_024)
    #expect(kept > 0, "a count that sees nothing shows nothing")
    #expect(kept <= 1_024 * 16 * 1_024, "\(kept / 1_024) bytes for each")
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
