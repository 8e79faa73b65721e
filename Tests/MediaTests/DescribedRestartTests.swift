import Media
import Model
import Testing
import Wire

/// A publisher's source becomes another: what its descriptors say of packets is what they say to one who has seen nothing before.
@Suite("Described packets of another source", .timeLimit(.minutes(1)))
struct DescribedRestartTests {
  private static func receiver(ssrc: UInt32) -> TrackReceiver {
    var media = section(.video)
    media.codecs = [NegotiatedCodec(codec: .av1, payloadType: 96, rtxPayloadType: 97, nack: true, pli: true)]
    var receiver = TrackReceiver(media)
    receiver.rebind(ssrc: ssrc)
    return receiver
  }

  private static func take(_ bytes: [UInt8], _ receiver: inout TrackReceiver) -> PacketInfo? {
    var bytes = bytes
    return receiver.take(described: &bytes, at: 5).info
  }

  @Test(arguments: ScalabilityMode.all, 1...6 as ClosedRange<UInt64>)
  func `they are described as to one who has seen nothing before`(mode: ScalabilityMode, seed: UInt64) throws
  {
    var random = RandomSource.seeded(state: seed)
    var (long, new) = (Self.receiver(ssrc: 1), Self.receiver(ssrc: 2))
    let before = DescribedSource(mode, isEncrypted: false, random: &random)
    for _ in 0..<8 {
      for packet in before.next(random: &random) { _ = Self.take(packet.bytes, &long) }
    }
    long.rebind(ssrc: 2)
    let behind = DescribedSource(mode, isEncrypted: false, random: &random)
    var described = 0
    for _ in 0..<12 {
      for packet in behind.next(random: &random) {
        let expected = Self.take(packet.bytes, &new)
        // One packet is not yet another source: the second says so.
        guard let found = Self.take(packet.bytes, &long) else { continue }
        let known = try #require(expected)
        #expect(found.flags == known.flags && found.layer == known.layer, "frame \(packet.frame)")
        described += 1
      }
    }
    #expect(described >= 11)
  }
}
