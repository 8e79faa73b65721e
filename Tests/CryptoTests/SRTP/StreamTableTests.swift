import Crypto
import Model
import Testing

@Suite("SSRCs of a peer", .timeLimit(.minutes(5)))
struct StreamTableTests {
  /// Seals one packet of `ssrc`.
  private static func packet(_ sealer: inout SRTPSealer, ssrc: UInt32, index: UInt64 = 1) throws -> [UInt8] {
    var random = RandomSource.seeded(state: UInt64(ssrc))
    return try TestPacket.random(ssrc: ssrc, sequence: UInt16(truncatingIfNeeded: index), using: &random)
      .sealed(by: &sealer, ssrc: ssrc, index: index)
  }

  @Test(arguments: SRTPProfile.allCases)
  func `packets that don't authenticate never get a place`(profile: SRTPProfile) throws {
    var foreign = SRTPSealer(keys: .random(profile))
    var opener = try SRTPOpener(keys: .random(profile), mappedLimit: 4)
    for ssrc: UInt32 in 0..<200 {
      let packet = try Self.packet(&foreign, ssrc: ssrc)
      #expect(throws: SRTPError.authentication) { try opener.openedRTP(packet) }
      let report = try foreign.sealedRTCP(TestPacket.report(ssrc: ssrc), ssrc: ssrc, index: 1)
      #expect(throws: SRTPError.authentication) { try opener.openedRTCP(report) }
    }
    #expect(opener.streamCount == 0)
  }

  @Test(arguments: SRTPProfile.allCases)
  func `the least recently used unmapped SSRC goes for a newcomer`(profile: SRTPProfile) throws {
    let keys = SRTPKeys.random(profile)
    var sealer = SRTPSealer(keys: keys)
    var opener = try SRTPOpener(keys: keys, mappedLimit: 2)
    for ssrc: UInt32 in 0..<32 { _ = try opener.openedRTP(Self.packet(&sealer, ssrc: ssrc)) }
    // 0 is used again, so that 1 is the oldest.
    _ = try opener.openedRTP(Self.packet(&sealer, ssrc: 0, index: 2))
    _ = try opener.openedRTP(Self.packet(&sealer, ssrc: 100))
    #expect(opener.streamCount == 32)
    let oldest = opener.highestIndex(ssrc: 1)
    #expect(oldest == nil)
    for ssrc in [0, 2, 31, 100] as [UInt32] {
      let highest = opener.highestIndex(ssrc: ssrc)
      #expect(highest != nil)
    }
    // What went may come again, as a newcomer.
    _ = try opener.openedRTP(Self.packet(&sealer, ssrc: 1, index: 5))
    let again = opener.highestIndex(ssrc: 1)
    #expect(again == 5)
  }

  @Test func `mapped SSRCs stay while hundreds of others pass`() throws {
    let keys = SRTPKeys.random(.aeadAES128GCM)
    var sealer = SRTPSealer(keys: keys)
    var opener = try SRTPOpener(keys: keys, mappedLimit: 2)
    _ = try opener.openedRTP(Self.packet(&sealer, ssrc: 7))
    let mapped = [7, 8, 9, 7].map { opener.markMapped(ssrc: $0) }
    #expect(mapped == [true, true, false, true])
    for ssrc: UInt32 in 1_000..<1_300 { _ = try opener.openedRTP(Self.packet(&sealer, ssrc: ssrc)) }
    #expect(opener.streamCount == 34)
    let replayed = try Self.packet(&sealer, ssrc: 7)
    #expect(throws: SRTPError.replayed(index: 1)) { try opener.openedRTP(replayed) }
    _ = try opener.openedRTP(Self.packet(&sealer, ssrc: 8))
    #expect(opener.streamCount == 34)
  }

  @Test func `a removed SSRC gives its mapped place back and is still protected from replays`() throws {
    let keys = SRTPKeys.random(.aeadAES256GCM)
    var sealer = SRTPSealer(keys: keys)
    var opener = try SRTPOpener(keys: keys, mappedLimit: 1)
    _ = opener.markMapped(ssrc: 7)
    let sealed = try Self.packet(&sealer, ssrc: 7)
    _ = try opener.openedRTP(sealed)
    opener.remove(ssrc: 7)
    opener.remove(ssrc: 7)
    opener.remove(ssrc: 4_711)
    #expect(throws: SRTPError.replayed(index: 1)) { try opener.openedRTP(sealed) }
    let mapped = opener.markMapped(ssrc: 8)
    #expect(mapped)
    #expect(opener.streamCount == 2)
  }

  @Test func `removing into a full table pushes the oldest out`() throws {
    let keys = SRTPKeys.random(.aeadAES128GCM)
    var sealer = SRTPSealer(keys: keys)
    var opener = try SRTPOpener(keys: keys, mappedLimit: 1)
    _ = opener.markMapped(ssrc: 500)
    for ssrc: UInt32 in 0..<32 { _ = try opener.openedRTP(Self.packet(&sealer, ssrc: ssrc)) }
    #expect(opener.streamCount == 33)
    opener.remove(ssrc: 500)
    #expect(opener.streamCount == 32)
    let oldest = opener.highestIndex(ssrc: 0)
    #expect(oldest == nil)
  }

  @Test func `a rebuilt opener knows mapped SSRCs and the order of use`() throws {
    let keys = SRTPKeys.random(.aes128CMSHA1_80)
    var sealer = SRTPSealer(keys: keys)
    var opener = try SRTPOpener(keys: keys, mappedLimit: 1)
    _ = opener.markMapped(ssrc: 500)
    for ssrc: UInt32 in 0..<32 { _ = try opener.openedRTP(Self.packet(&sealer, ssrc: ssrc)) }
    _ = try opener.openedRTP(Self.packet(&sealer, ssrc: 0, index: 2))
    opener = try opener.rebuilt()
    #expect(opener.streamCount == 33)
    let another = opener.markMapped(ssrc: 501)
    #expect(!another)
    _ = try opener.openedRTP(Self.packet(&sealer, ssrc: 1_000))
    let kept = opener.highestIndex(ssrc: 0)
    let pushedOut = opener.highestIndex(ssrc: 1)
    #expect(kept == 2 && pushedOut == nil)
  }
}
