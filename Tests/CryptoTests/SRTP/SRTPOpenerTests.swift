import Crypto
import Model
import Testing

/// What became of a packet: its bytes, or why there are none.
private enum Outcome: Equatable {
  case opened([UInt8])
  case refused(SRTPError)
}

extension SRTPOpener {
  fileprivate mutating func rtp(_ packet: [UInt8]) -> Outcome {
    do { return .opened(try openedRTP(packet)) } catch { return .refused(error) }
  }
  fileprivate mutating func rtcp(_ packet: [UInt8]) -> Outcome {
    do { return .opened(try openedRTCP(packet)) } catch { return .refused(error) }
  }
}

/// A stream as libsrtp seals it: plain and sealed packets, in order.
private func stream(
  _ indices: some Sequence<UInt64>, ssrc: UInt32 = 0x1234_5678, from farEnd: FarEnd, seed: UInt64 = 1
) throws -> [(index: UInt64, plain: [UInt8], sealed: [UInt8])] {
  var random = RandomSource.seeded(state: seed)
  return try indices.map { index in
    let packet = TestPacket.random(
      ssrc: ssrc, sequence: UInt16(truncatingIfNeeded: index), using: &random)
    return (index, packet.bytes, try farEnd.sealRTP(packet.bytes))
  }
}

@Suite("SRTP opener", .timeLimit(.minutes(5)))
struct SRTPOpenerTests {
  @Test(arguments: SRTPProfile.allCases)
  func `a stream with loss, reordering and duplicates is opened, each packet once`(
    profile: SRTPProfile
  ) throws {
    let keys = SRTPKeys.random(profile)
    let packets = try stream(60_000..<72_000, from: try FarEnd(.seals, keys: keys))
    var opener = try SRTPOpener(keys: keys, mappedLimit: 4)
    var random = RandomSource.seeded(state: 5)
    var arrivals: [(at: Int, number: Int)] = []
    for number in packets.indices where random.next() % 10 != 0 {
      // Up to 100 places late; the first comes first, as it names the rollover counter.
      let copies = random.next() % 8 == 0 ? 2 : 1
      for _ in 0..<copies { arrivals.append((number + (number == 0 ? 0 : Int(random.next() % 100)), number)) }
    }
    arrivals.sort { ($0.at, $0.number) < ($1.at, $1.number) }
    var opened: Set<Int> = []
    for (_, number) in arrivals {
      let outcome = opener.rtp(packets[number].sealed)
      if opened.insert(number).inserted {
        #expect(outcome == .opened(packets[number].plain))
      } else {
        #expect(outcome == .refused(.replayed(index: packets[number].index)))
      }
    }
    #expect(opened.count > 10_000)
    #expect(opener.streamCount == 1)
    let highest = opener.highestIndex(ssrc: 0x1234_5678)
    #expect(highest == packets[opened.max()!].index)
  }

  @Test(arguments: SRTPProfile.allCases)
  func `a loss of 30,000 packets across the rollover is survived`(profile: SRTPProfile) throws {
    let keys = SRTPKeys.random(profile)
    let packets = try stream(
      Array(50_000..<50_010) + Array(80_000..<80_010) + Array(112_000..<112_010) + Array(140_000..<140_010),
      from: try FarEnd(.seals, keys: keys))
    var opener = try SRTPOpener(keys: keys, mappedLimit: 4)
    for packet in packets {
      let outcome = opener.rtp(packet.sealed)
      #expect(outcome == .opened(packet.plain))
    }
    let highest = opener.highestIndex(ssrc: 0x1234_5678)
    #expect(highest == 140_009)
  }

  @Test(arguments: SRTPProfile.allCases)
  func `every replay is refused before and after the window has moved on`(profile: SRTPProfile) throws {
    let keys = SRTPKeys.random(profile)
    let packets = try stream(65_000..<67_500, from: try FarEnd(.seals, keys: keys))
    var opener = try SRTPOpener(keys: keys, mappedLimit: 4)
    for packet in packets {
      let outcome = opener.rtp(packet.sealed)
      #expect(outcome == .opened(packet.plain))
    }
    for packet in packets {
      let tooOld = 67_499 - packet.index >= IndexWindow.size
      let outcome = opener.rtp(packet.sealed)
      #expect(outcome == .refused(tooOld ? .tooOld(index: packet.index) : .replayed(index: packet.index)))
    }
  }

  @Test(arguments: SRTPProfile.allCases)
  func `a forged packet is refused and does not spoil the genuine one`(profile: SRTPProfile) throws {
    let keys = SRTPKeys.random(profile)
    let packets = try stream(1_000..<1_400, from: try FarEnd(.seals, keys: keys))
    var opener = try SRTPOpener(keys: keys, mappedLimit: 4)
    var random = RandomSource.seeded(state: 2)
    for packet in packets {
      var forged = packet.sealed
      let place = Int(random.next() % UInt64(forged.count))
      forged[place] ^= 1 << (random.next() % 8)
      if case .opened = opener.rtp(forged) { Issue.record("opened with byte \(place) changed") }
      // Whatever the packet's number claims, nothing was marked as seen.
      let outcome = opener.rtp(packet.sealed)
      #expect(outcome == .opened(packet.plain))
    }
    #expect(opener.streamCount == 1)
  }

  @Test(arguments: SRTPProfile.allCases)
  func `a forged tag is named as such`(profile: SRTPProfile) throws {
    let keys = SRTPKeys.random(profile)
    let farEnd = try FarEnd(.seals, keys: keys)
    var packet = try stream([7], from: farEnd)[0].sealed
    packet[packet.count - 1] ^= 0x80
    var opener = try SRTPOpener(keys: keys, mappedLimit: 4)
    let outcome = opener.rtp(packet)
    #expect(outcome == .refused(.authentication))
    #expect(opener.streamCount == 0)
  }

  @Test(arguments: SRTPProfile.allCases)
  func `a packet cut anywhere is refused`(profile: SRTPProfile) throws {
    let keys = SRTPKeys.random(profile)
    let farEnd = try FarEnd(.seals, keys: keys)
    let packet = try stream([1, 2, 3, 4, 5], from: farEnd, seed: 77)[4].sealed
    let report = try farEnd.sealRTCP(TestPacket.report(ssrc: 1))
    var opener = try SRTPOpener(keys: keys, mappedLimit: 4)
    for size in 0..<packet.count {
      if case .opened = opener.rtp(Array(packet[..<size])) { Issue.record("opened \(size) bytes of RTP") }
    }
    for size in 0..<report.count {
      if case .opened = opener.rtcp(Array(report[..<size])) { Issue.record("opened \(size) bytes of RTCP") }
    }
    let outcome = opener.rtp([UInt8](repeating: 0x80, count: 11 + profile.tagSize))
    #expect(outcome == .refused(.tooShort(bytes: 11 + profile.tagSize)))
  }

  @Test(arguments: SRTPProfile.allCases)
  func `headers that claim more than there is are refused`(profile: SRTPProfile) throws {
    var opener = try SRTPOpener(keys: .random(profile), mappedLimit: 4)
    for first: UInt8 in [0x8F, 0x9F, 0x90, 0x00, 0x40, 0xC0] {
      for count in [28, 40, 64] {
        let packet = [first] + [UInt8](repeating: 0xFF, count: count)
        if case .opened = opener.rtp(packet) { Issue.record("opened a header of \(first)") }
        if case .opened = opener.rtcp(packet) { Issue.record("opened a report of \(first)") }
      }
    }
    #expect(opener.streamCount == 0)
  }
}

@Suite("SRTCP opener", .timeLimit(.minutes(5)))
struct SRTCPOpenerTests {
  @Test(arguments: SRTPProfile.allCases)
  func `reports are opened once, in any order`(profile: SRTPProfile) throws {
    let keys = SRTPKeys.random(profile)
    let farEnd = try FarEnd(.seals, keys: keys)
    let plain = (0..<100).map { TestPacket.report(ssrc: 9, words: $0 % 7) }
    let sealed = try plain.map { try farEnd.sealRTCP($0) }
    var opener = try SRTPOpener(keys: keys, mappedLimit: 4)
    for number in plain.indices.reversed() {
      let outcome = opener.rtcp(sealed[number])
      #expect(outcome == .opened(plain[number]))
    }
    for number in plain.indices {
      // libsrtp counts from 1.
      let outcome = opener.rtcp(sealed[number])
      #expect(outcome == .refused(.replayed(index: UInt64(number + 1))))
    }
  }

  @Test(arguments: SRTPProfile.allCases)
  func `a forged report is refused and does not spoil the genuine one`(profile: SRTPProfile) throws {
    let keys = SRTPKeys.random(profile)
    var sealer = SRTPSealer(keys: keys)
    var opener = try SRTPOpener(keys: keys, mappedLimit: 4)
    let plain = TestPacket.report(ssrc: 3)
    let sealed = try sealer.sealedRTCP(plain, ssrc: 3, index: 17)
    for place in sealed.indices {
      var forged = sealed
      forged[place] ^= 0x01
      if case .opened = opener.rtcp(forged) { Issue.record("opened with byte \(place) changed") }
    }
    let outcome = opener.rtcp(sealed)
    #expect(outcome == .opened(plain))
  }

  @Test(arguments: SRTPProfile.allCases)
  func `a report from long ago is too old`(profile: SRTPProfile) throws {
    let keys = SRTPKeys.random(profile)
    var sealer = SRTPSealer(keys: keys)
    var opener = try SRTPOpener(keys: keys, mappedLimit: 4)
    let plain = TestPacket.report(ssrc: 3)
    let outcomes = try [2_000, 1_900, 1_800, 900].map { index in
      opener.rtcp(try sealer.sealedRTCP(plain, ssrc: 3, index: index))
    }
    #expect(outcomes[..<2] == [.opened(plain), .opened(plain)])
    #expect(outcomes[2...] == [.refused(.tooOld(index: 1_800)), .refused(.tooOld(index: 900))])
  }

  @Test(arguments: SRTPProfile.allCases)
  func `a report that says it is not encrypted is refused`(profile: SRTPProfile) throws {
    let keys = SRTPKeys.random(profile)
    var sealer = SRTPSealer(keys: keys)
    var opener = try SRTPOpener(keys: keys, mappedLimit: 4)
    var sealed = try sealer.sealedRTCP(TestPacket.report(ssrc: 3), ssrc: 3, index: 17)
    let word = profile == .aes128CMSHA1_80 ? sealed.count - 14 : sealed.count - 4
    sealed[word] &= 0x7F
    let outcome = opener.rtcp(sealed)
    #expect(outcome == .refused(.notEncrypted))
  }

  @Test func `an SSRC that reported first can send media afterwards`() throws {
    let keys = SRTPKeys.random(.aeadAES128GCM)
    let farEnd = try FarEnd(.seals, keys: keys)
    let report = try farEnd.sealRTCP(TestPacket.report(ssrc: 0x1234_5678))
    let media = try stream(65_500..<66_000, from: farEnd)
    var opener = try SRTPOpener(keys: keys, mappedLimit: 4)
    _ = try opener.openedRTCP(report)
    for packet in media {
      let outcome = opener.rtp(packet.sealed)
      #expect(outcome == .opened(packet.plain))
    }
    #expect(opener.streamCount == 1)
  }
}

@Suite("SRTP opener rebuilt from its state", .timeLimit(.minutes(5)))
struct SRTPOpenerStateTests {
  @Test(arguments: SRTPProfile.allCases)
  func `it continues in mid-stream and opens nothing twice`(profile: SRTPProfile) throws {
    let keys = SRTPKeys.random(profile)
    let farEnd = try FarEnd(.seals, keys: keys)
    // Through four rollovers, in strides that leave gaps.
    let packets = try stream(stride(from: 60_000, to: 330_000, by: 137), from: farEnd)
    let reports = try packets.indices.map { try farEnd.sealRTCP(TestPacket.report(ssrc: UInt32($0 % 3))) }
    var opener = try SRTPOpener(keys: keys, mappedLimit: 4)
    for (number, packet) in packets.enumerated() {
      if number % 50 == 49 {
        opener = try opener.rebuilt()
        for earlier in max(0, number - 10)..<number {
          if case .opened = opener.rtp(packets[earlier].sealed) { Issue.record("RTP \(earlier) twice") }
          if case .opened = opener.rtcp(reports[earlier]) { Issue.record("RTCP \(earlier) twice") }
        }
      }
      let outcome = opener.rtp(packet.sealed)
      #expect(outcome == .opened(packet.plain))
      let report = opener.rtcp(reports[number])
      #expect(report == .opened(TestPacket.report(ssrc: UInt32(number % 3))))
    }
  }

  /// Indices opened before the rebuild, then the packets that come first after it.
  @Test(
    arguments: [
      (65_500, [65_530, 65_540, 66_000]),
      (65_540, [65_530, 65_535, 65_541, 65_539, 66_400, 65_545]),
      (131_075, [131_060, 131_070, 131_076, 130_600, 131_900]),
      (200_000, [199_500, 232_000, 231_500, 260_000]),
      (70_000, [69_000, 101_500, 101_000, 133_000, 132_500]),
      (300, [65, 33_000, 32_999, 65_600, 65_500]),
    ] as [(UInt64, [UInt64])])
  func `late packets right after it find their rollover counter`(highest: UInt64, next: [UInt64]) throws {
    for profile in SRTPProfile.allCases {
      let keys = SRTPKeys.random(profile)
      var sealer = SRTPSealer(keys: keys)
      var opener = try SRTPOpener(keys: keys, mappedLimit: 4)
      var random = RandomSource.seeded(state: 4)
      // A walk up to the highest, within half a range each step.
      let before = Array(stride(from: highest % 20_000, to: highest, by: 20_000)) + [highest]
      for index in before + [nil] + next.map(Optional.some) {
        guard let index else {
          opener = try opener.rebuilt()
          continue
        }
        let packet = TestPacket.random(ssrc: 8, sequence: UInt16(truncatingIfNeeded: index), using: &random)
        let sealed = try packet.sealed(by: &sealer, ssrc: 8, index: index)
        let outcome = opener.rtp(sealed)
        #expect(outcome == .opened(packet.bytes), "\(profile) \(index)")
        let replay = opener.rtp(sealed)
        #expect(replay == .refused(.replayed(index: index)))
      }
    }
  }

  @Test func `state cut or changed anywhere is an error or an opener, never a trap`() throws {
    var opener = try SRTPOpener(keys: .random(.aeadAES128GCM), mappedLimit: 2)
    let mapped = opener.markMapped(ssrc: 5)
    #expect(mapped)
    var writer = StateWriter()
    opener.encode(into: &writer)
    let bytes = writer.bytes
    for size in bytes.indices {
      #expect(throws: StateError.self) {
        var reader = StateReader(Array(bytes[..<size]))
        _ = try SRTPOpener(from: &reader)
      }
    }
    for place in bytes.indices {
      var changed = bytes
      changed[place] ^= 0xFF
      var reader = StateReader(changed)
      _ = try? SRTPOpener(from: &reader)
    }
  }
}
