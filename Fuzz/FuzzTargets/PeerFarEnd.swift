import Crypto
import Model
import Wire

/// The participant behind its handshake: seals what it is given, by keys that both ends have.
final class PeerFarEnd {
  /// A record as the last flight of a handshake holds it.
  static let changeCipherSpec: [UInt8] = [20, 254, 253, 0, 0, 0, 0, 0, 0, 0, 7, 0, 1, 1]

  /// What the participant seals with, and what the peer does.
  let far: SRTPKeys
  let near: SRTPKeys
  private(set) var lastSealed: [UInt8]?
  private var sealer: SRTPSealer
  private var sequences: [UInt32: SequenceExtender] = [:]
  private var timestamps: [UInt32: UInt32] = [:]
  private var reportIndex: UInt32 = 0

  init(_ profile: SRTPProfile) {
    let keys = { (first: UInt8) in
      SRTPKeys(
        profile: profile, masterKey: (0..<UInt8(profile.keySize)).map { first &+ $0 },
        masterSalt: (0..<UInt8(profile.saltSize)).map { first &+ $0 })
    }
    far = keys(1)
    near = keys(101)
    sealer = SRTPSealer(keys: far)
  }

  /// Any bytes, as far as there is a header that libsrtp would take.
  func sealRTP(_ plain: [UInt8]) -> [UInt8]? {
    guard plain.count >= 12 else { return nil }
    let ssrc = word(plain, at: 8)
    var sequence = sequences[ssrc] ?? SequenceExtender()
    let extended = sequence.extend(UInt16(plain[2]) << 8 | UInt16(plain[3]))
    guard extended >= 0 else { return nil }
    sequences[ssrc] = sequence
    var header = 12 + 4 * Int(plain[0] & 15)
    if plain[0] & 0x10 != 0 {
      guard header + 4 <= plain.count else { return nil }
      header += 4 + 4 * (Int(plain[header + 2]) << 8 | Int(plain[header + 3]))
    }
    guard header <= plain.count else { return nil }
    return seal(plain) { bytes, capacity throws(SRTPError) in
      try self.sealer.sealRTP(
        bytes, headerSize: header, size: plain.count, capacity: capacity, ssrc: ssrc,
        index: UInt64(extended))
    }
  }

  /// Any bytes as a compound.
  func sealRTCP(_ plain: [UInt8]) -> [UInt8]? {
    guard plain.count >= 8 else { return nil }
    reportIndex += 1
    return seal(plain) { bytes, capacity throws(SRTPError) in
      try self.sealer.sealRTCP(
        bytes, size: plain.count, capacity: capacity, ssrc: self.word(plain, at: 4),
        index: self.reportIndex)
    }
  }

  private func seal(
    _ plain: [UInt8], _ body: (UnsafeMutableRawPointer, Int) throws(SRTPError) -> Int
  ) -> [UInt8]? {
    var bytes = plain + [UInt8](repeating: 0, count: 32)
    let size = bytes.withUnsafeMutableBytes { try? body($0.baseAddress!, $0.count) }
    guard let size else { return nil }
    lastSealed = Array(bytes[..<size])
    return lastSealed
  }

  private func word(_ bytes: [UInt8], at offset: Int) -> UInt32 {
    bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// What the participant says about a stream of ours, whose numbers no input can know: a report where bit 2 of the first
  /// byte is set, and a request for packets from so many before the last as the second byte says, by the bits of the rest.
  func feedback(_ script: [UInt8], about traffic: PeerTraffic) -> [UInt8]? {
    guard script.count >= 4 else { return nil }
    let ssrc = 1_000 + UInt32(script[0] & 3)
    let last = traffic.lastSequences[ssrc] ?? 0
    var lost: [UInt16] = []
    for (index, byte) in script[2...].enumerated() {
      for bit in 0..<8 where byte >> UInt8(bit) & 1 != 0 {
        lost.append(last &- UInt16(script[1]) &+ UInt16(truncatingIfNeeded: index * 8 + bit))
      }
    }
    return written(1_200) { buffer in
      var writer = RTCPWriter(into: buffer)
      writer.append(ReceiverReport(ssrc: 1))
      if script[0] & 4 != 0 {
        writer.append(
          ReportBlock(
            ssrc: ssrc, fractionLost: script[1], highestSequence: UInt32(last), jitter: UInt32(script[2]),
            lastSenderReport: traffic.lastReport, delaySinceLastSenderReport: UInt32(script[3]) << 8))
      }
      writer.append(nack: lost.span, FeedbackSources(sender: 1, media: ssrc))
      return writer.size
    }
  }

  /// A packet of one of the participant's streams: in its first five bytes stream (3 bits), payload type (4) and
  /// marker, the steps in sequence number and time, which extensions it has, and how long theirs are; then the payload,
  /// of whose beginning extensions are made as well.
  func packet(_ script: [UInt8]) -> [UInt8]? {
    guard script.count >= 5 else { return nil }
    let ssrc = PeerMedia.farStreams[Int(script[0] & 7)]
    let payload = Array(script[5...])
    let before = sequences[ssrc]?.highest ?? 1_000
    let step = Int64(Int8(bitPattern: script[1]))
    let time = (timestamps[ssrc] ?? 0) &+ UInt32(bitPattern: Int32(Int8(bitPattern: script[2]))) &* 480
    timestamps[ssrc] = time
    return payload.withUnsafeBytes { bytes in
      written(payload.count + 1_024) { buffer in
        guard
          var writer = RTPWriter(
            into: buffer, marker: script[0] & 0x80 != 0,
            payloadType: PeerMedia.payloadTypes[Int(script[0] >> 3 & 15)],
            sequence: UInt16(truncatingIfNeeded: before + step), timestamp: time, ssrc: ssrc,
            form: script[3] & 0x80 == 0 ? .oneByte : .twoByte)
        else { return nil }
        for (bit, element) in PeerMedia.farExtensions.enumerated() where script[3] >> UInt8(bit) & 1 != 0 {
          switch element {
          case .text(let id, let text): if let mid = MIDBytes(text) { writer.append(id: id, mid) }
          case .bytes(let id):
            let size = min(Int(script[4]), bytes.count)
            if size > 0 { writer.append(id: id, bytes.baseAddress!, size: size) }
          }
        }
        let header = writer.finish()
        UnsafeMutableRawBufferPointer(rebasing: buffer[header...]).copyBytes(from: bytes)
        return header + bytes.count
      }
    }
  }
}
