import Media
import Model
import Testing
import Wire

/// What becomes of the numbers by which an encoder of VP8 counts its key frames (KEYIDX, RFC 7741 §4.2).
@Suite("Key indices of VP8", .timeLimit(.minutes(1)))
struct KeyIndexTests {
  /// A payload with a key index, of two layers of frame rate or of none.
  private func payload(_ picture: Int, key: Bool, _ keyIndex: UInt8, hasLayers: Bool) -> [UInt8] {
    var bytes: [UInt8] = [
      0x90, hasLayers ? 0xF0 : 0x90, 0x80 | UInt8(picture >> 8 & 0x7F), UInt8(picture & 0xFF),
    ]
    if hasLayers { bytes.append(UInt8(picture / 2 & 0xFF)) }
    bytes.append(UInt8(temporal(picture, hasLayers)) << 6 | keyIndex)
    return bytes + [key ? 0x10 : 0x11, 0xBB, 0xCC]
  }

  private func temporal(_ picture: Int, _ hasLayers: Bool) -> Int { hasLayers ? picture % 2 : 0 }

  private func descriptor(_ bytes: some Sequence<UInt8>) throws -> VP8Descriptor {
    try Array(bytes).withUnsafeBytes { try VP8Descriptor($0) }
  }

  /// Two sources in a row count alike, which have nothing to do with each other.
  @Test(arguments: [true, false])
  func `none reaches a subscriber, whichever source its slot shows`(hasLayers: Bool) throws {
    let slot = Slot(.video)
    var sent: [(packet: Sent, picture: Int)] = []
    for (number, first) in [7, 7, 30].enumerated() as EnumeratedSequence<[UInt8]> {
      let source = Source(.video, peer: UInt64(number + 1), sequence: UInt16(100 * number + 100))
      slot.feed(source)
      for step in 0..<8 {
        let (picture, isKey) = (1_000 * number + step, step % 4 == 0)
        let index = (first + UInt8(step / 4)) & 31
        let taken = source.next(at: number * 1_000 + step * 33, key: isKey) {
          $0.payload = payload(picture, key: isKey, index, hasLayers: hasLayers)
        }
        let left = slot.forward(try some(taken))
        sent.append((packet: try some(left), picture: picture))
      }
      let last = try some(sent.last).packet
      let again = try some(slot.ask(last.header.sequence, of: source))
      #expect(again.payload.dropFirst(2) == last.payload[...], "what is sent again is the same")
    }
    for (packet, picture) in sent {
      let found = try descriptor(packet.payload)
      #expect(found.keyIndex == nil && found.hasTemporalID)
      #expect(Int(found.temporalID) == temporal(picture, hasLayers))
      #expect(packet.payload.suffix(2) == [0xBB, 0xCC])
    }
    for (before, next) in zip(sent, sent.dropFirst()) {
      #expect(next.packet.sequence == before.packet.sequence + 1)
      #expect(next.packet.pictureID == (try some(before.packet.pictureID) + 1) & 0x7FFF)
    }
  }

  @Test func `what a publisher sends again loses it as well`() throws {
    var receiver = TrackReceiver(section(.video))
    func packet(_ sequence: UInt16) -> RTPPacket {
      RTPPacket(
        sequence: sequence, timestamp: UInt32(sequence) * 3_000,
        payload: payload(Int(sequence), key: sequence == 100, 3, hasLayers: true))
    }
    for sequence in [100, 102] as [UInt16] {
      let taken = receiver.take(packet(sequence).bytes)
      #expect(taken.outcome.info != nil)
    }
    let repeated = packet(101).repeated(ssrc: 0x2222_2222, payloadType: 97, sequence: 1)
    let taken = receiver.take(repeated, isRTX: true)
    let info = try some(taken.outcome.info)
    #expect(info.flags.contains(.recovered) && info.layer.temporal == 1)
    let found = try descriptor(taken.packet.dropFirst(Int(info.payloadOffset)))
    #expect(found.keyIndex == nil && found.tl0PictureIndex == 50)
  }
}
