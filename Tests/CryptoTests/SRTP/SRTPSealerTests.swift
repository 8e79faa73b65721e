import Crypto
import Model
import Testing

@Suite("SRTP sealer", .timeLimit(.minutes(5)))
struct SRTPSealerTests {
  @Test(arguments: SRTPProfile.allCases)
  func `libsrtp opens whatever it seals, through rollovers`(profile: SRTPProfile) throws {
    let keys = SRTPKeys.random(profile)
    var sealer = SRTPSealer(keys: keys)
    let farEnd = try FarEnd(.opens, keys: keys)
    var random = RandomSource.seeded(state: UInt64(profile.rawValue))
    let ssrcs: [UInt32] = [1, 0x8000_0000, 0xFFFF_FFFF, 0xCAFE_BABE]
    var indices = ssrcs.map { _ in 65_000 + random.next() % 500 }
    for number in 0..<sealPackets {
      let stream = number % ssrcs.count
      let packet = TestPacket.random(
        ssrc: ssrcs[stream], sequence: UInt16(truncatingIfNeeded: indices[stream]), using: &random)
      let sealed = try packet.sealed(by: &sealer, ssrc: ssrcs[stream], index: indices[stream])
      let opened = try farEnd.openRTP(sealed)
      // One comparison a packet, because a million expectations take their time.
      if opened != packet.bytes || sealed.count != packet.bytes.count + profile.tagSize {
        Issue.record("packet \(number) with index \(indices[stream]) is not itself any more")
        return
      }
      indices[stream] += 1 + random.next() % 40
    }
    if sealPackets >= 50_000 { #expect(indices.allSatisfy { $0 > 3 << 16 }) }
  }

  @Test(arguments: SRTPProfile.allCases)
  func `libsrtp opens the RTCP that it seals`(profile: SRTPProfile) throws {
    let keys = SRTPKeys.random(profile)
    var sealer = SRTPSealer(keys: keys)
    let farEnd = try FarEnd(.opens, keys: keys)
    for (number, index) in ([0, 1, 2, 500, 0x7FFF_FFFE, 0x7FFF_FFFF] as [UInt32]).enumerated() {
      let plain = TestPacket.report(ssrc: 7, words: number)
      let sealed = try sealer.sealedRTCP(plain, ssrc: 7, index: index)
      #expect(sealed.count == plain.count + profile.rtcpOverhead)
      #expect(try farEnd.openRTCP(sealed) == plain)
    }
  }

  @Test(arguments: SRTPProfile.allCases)
  func `no place for the tag is an error and leaves the packet as it was`(profile: SRTPProfile) throws {
    var sealer = SRTPSealer(keys: .random(profile))
    var random = RandomSource.seeded(state: 1)
    let packet = TestPacket.random(ssrc: 1, sequence: 1, using: &random)
    var bytes = packet.bytes
    let size = bytes.count
    let needed = size + profile.tagSize
    #expect(throws: SRTPError.capacity(needed: needed, capacity: needed - 1)) {
      try bytes.withUnsafeMutableBytes {
        try sealer.sealRTP(
          $0.baseAddress!, headerSize: packet.headerSize, size: size, capacity: needed - 1, ssrc: 1, index: 1)
      }
    }
    #expect(bytes == packet.bytes)
  }

  @Test func `headers that can't be are refused`() throws {
    var sealer = SRTPSealer(keys: .random(.aeadAES128GCM))
    var bytes = [UInt8](repeating: 0x80, count: 100)
    for (header, size) in [(11, 40), (41, 40), (12, 4), (-1, 40)] {
      #expect(throws: SRTPError.malformed) {
        try bytes.withUnsafeMutableBytes {
          try sealer.sealRTP(
            $0.baseAddress!, headerSize: header, size: size, capacity: 100, ssrc: 1, index: 1)
        }
      }
    }
    #expect(throws: SRTPError.malformed) {
      try bytes.withUnsafeMutableBytes {
        try sealer.sealRTCP($0.baseAddress!, size: 7, capacity: 100, ssrc: 1, index: 1)
      }
    }
  }

  @Test func `used up indices are refused`() throws {
    var sealer = SRTPSealer(keys: .random(.aeadAES256GCM))
    var random = RandomSource.seeded(state: 1)
    let packet = TestPacket.random(ssrc: 1, sequence: 0, using: &random)
    #expect(throws: SRTPError.indexExhausted) { try packet.sealed(by: &sealer, ssrc: 1, index: 1 << 48) }
    #expect(throws: SRTPError.indexExhausted) {
      try sealer.sealedRTCP(TestPacket.report(ssrc: 1), ssrc: 1, index: 0x8000_0000)
    }
  }

  @Test(arguments: SRTPProfile.allCases)
  func `the same packet under the same index is the same bytes`(profile: SRTPProfile) throws {
    let keys = SRTPKeys.random(profile)
    var first = SRTPSealer(keys: keys)
    var second = SRTPSealer(keys: keys)
    var random = RandomSource.seeded(state: 3)
    let packet = TestPacket.random(ssrc: 5, sequence: 9, using: &random)
    let sealed = try packet.sealed(by: &first, ssrc: 5, index: 1 << 32 | 9)
    #expect(try packet.sealed(by: &second, ssrc: 5, index: 1 << 32 | 9) == sealed)
    // Another rollover counter changes key stream or tag.
    #expect(try packet.sealed(by: &second, ssrc: 5, index: 2 << 32 | 9) != sealed)
  }
}
