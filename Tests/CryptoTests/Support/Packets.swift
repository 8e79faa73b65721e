import Crypto
import Glibc
import Model

/// How many packets a long test sends; an acceptance run asks for more.
let sealPackets = getenv("ROOST_SEAL_PACKETS").flatMap { Int(String(cString: $0)) } ?? 50_000

extension SRTPKeys {
  static func random(_ profile: SRTPProfile) -> SRTPKeys {
    SRTPKeys(
      profile: profile, masterKey: Random.key(profile.keySize), masterSalt: Random.key(profile.saltSize))
  }
}

/// An RTP packet with what a test wants to know of it.
struct TestPacket {
  var bytes: [UInt8]
  var headerSize: Int

  /// Payloads are pieces of this.
  private static let filler = Random.bytes(4_096)

  /// Random CSRCs, extensions and payload, 12 to about 1,200 bytes.
  static func random(ssrc: UInt32, sequence: UInt16, using random: inout RandomSource) -> TestPacket {
    let csrcs = random.next() % 4 == 0 ? Int(random.next() % 16) : 0
    let extensionWords = random.next() % 2 == 0 ? Int(random.next() % 9) : nil
    var bytes: [UInt8] = [
      0x80 | (extensionWords == nil ? 0 : 0x10) | UInt8(csrcs), UInt8(random.next() & 0xFF),
    ]
    bytes += bigEndian(sequence) + bigEndian(UInt32(truncatingIfNeeded: random.next())) + bigEndian(ssrc)
    for _ in 0..<csrcs { bytes += bigEndian(UInt32(truncatingIfNeeded: random.next())) }
    if let extensionWords {
      bytes += [0xBE, 0xDE] + bigEndian(UInt16(extensionWords))
      for _ in 0..<extensionWords { bytes += bigEndian(UInt32(truncatingIfNeeded: random.next())) }
    }
    let headerSize = bytes.count
    let payload = random.next() % 16 == 0 ? 0 : Int(random.next() % (random.next() % 4 == 0 ? 1_100 : 120))
    let start = Int(random.next() % UInt64(filler.count - payload))
    bytes += filler[start..<start + payload]
    return TestPacket(bytes: bytes, headerSize: headerSize)
  }

  /// A sender report without blocks, followed by `words` words.
  static func report(ssrc: UInt32, words: Int = 5) -> [UInt8] {
    [0x80, 200] + bigEndian(UInt16(1 + words)) + bigEndian(ssrc) + (0..<4 * words).map { UInt8($0 & 0xFF) }
  }

  /// Sealed by `sealer` under `index`.
  func sealed(by sealer: inout SRTPSealer, ssrc: UInt32, index: UInt64) throws -> [UInt8] {
    var buffer = bytes + [UInt8](repeating: 0, count: sealer.rtpOverhead)
    let capacity = buffer.count
    let size = try buffer.withUnsafeMutableBytes { buffer in
      try sealer.sealRTP(
        buffer.baseAddress!, headerSize: headerSize, size: bytes.count, capacity: capacity, ssrc: ssrc,
        index: index)
    }
    return Array(buffer[..<size])
  }
}

func bigEndian<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
  withUnsafeBytes(of: value.bigEndian) { Array($0) }
}

extension SRTPOpener {
  mutating func openedRTP(_ packet: [UInt8]) throws(SRTPError) -> [UInt8] {
    var buffer = packet
    let result: Result<Int, SRTPError> = buffer.withUnsafeMutableBytes { bytes in
      do throws(SRTPError) { return .success(try openRTP(bytes)) } catch { return .failure(error) }
    }
    return Array(buffer[..<(try result.get())])
  }

  mutating func openedRTCP(_ packet: [UInt8]) throws(SRTPError) -> [UInt8] {
    var buffer = packet
    let result: Result<Int, SRTPError> = buffer.withUnsafeMutableBytes { bytes in
      do throws(SRTPError) { return .success(try openRTCP(bytes)) } catch { return .failure(error) }
    }
    return Array(buffer[..<(try result.get())])
  }

  /// The same opener after its state went through bytes.
  consuming func rebuilt() throws -> SRTPOpener {
    var writer = StateWriter()
    encode(into: &writer)
    var reader = StateReader(writer.bytes)
    let copy = try SRTPOpener(from: &reader)
    try reader.finish()
    return copy
  }
}

extension SRTPSealer {
  mutating func sealedRTCP(_ packet: [UInt8], ssrc: UInt32, index: UInt32) throws -> [UInt8] {
    var buffer = packet + [UInt8](repeating: 0, count: rtcpOverhead)
    let capacity = buffer.count
    let size = try buffer.withUnsafeMutableBytes {
      try sealRTCP($0.baseAddress!, size: packet.count, capacity: capacity, ssrc: ssrc, index: index)
    }
    return Array(buffer[..<size])
  }
}
