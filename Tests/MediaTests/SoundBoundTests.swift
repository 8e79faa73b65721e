import Model
import Testing
import Wire

@testable import Media

@Suite("What sound of one track may take", .timeLimit(.minutes(1)))
struct SoundBoundTests {
  private static let opus: UInt8 = 111
  private static let red: UInt8 = 63

  private func publisher() -> Person {
    let section = ReceiveSection(
      index: 0, mid: "0", kind: .audio,
      codecs: [
        NegotiatedCodec(codec: .opus, payloadType: Self.opus),
        NegotiatedCodec(codec: .red, payloadType: Self.red),
      ], extensions: HeaderExtensionMap(), ssrc: 10)
    return Person(1, AgreedMedia(receive: [section]))
  }

  /// RED's payload without older packets begins with its packet's payload type.
  private func packet(_ number: Int, _ type: UInt8, bytes: Int) -> [UInt8] {
    RTPPacket(
      sequence: UInt16(truncatingIfNeeded: number), timestamp: UInt32(number) * 960, ssrc: 10,
      payloadType: type,
      payload: [Self.opus] + Array(repeating: 7, count: bytes - 13)
    ).bytes
  }

  /// Sends 4 Mbit/s for three seconds.
  /// - Parameter type: of each packet, by its number.
  /// - Returns: the bytes that go on, of each payload type.
  private func passed(_ type: (Int) -> UInt8) -> [UInt8: Int] {
    let person = publisher()
    var bytes: [UInt8: Int] = [:]
    for number in 0..<1_500 {
      let packet = packet(number, type(number), bytes: 1_000)
      guard person.publish(packet, at: milliseconds(number * 2)) != nil else { continue }
      bytes[type(number), default: 0] += packet.count
    }
    #expect(person.context.counters[.soundOverRate] == UInt64(1_500 - bytes.values.reduce(0, +) / 1_000))
    return bytes
  }

  @Test func `Opus has what it takes at its most, and RED three times that`() {
    let opus = passed { _ in Self.opus }
    #expect((210_000...230_000).contains(opus[Self.opus] ?? 0), "\(opus)")
    let red = passed { _ in Self.red }
    #expect((570_000...615_000).contains(red[Self.red] ?? 0), "\(red)")
  }

  @Test func `who changes between both has no more of either`() {
    let both = passed { $0 / 250 % 2 == 0 ? Self.opus : Self.red }
    let seconds = Double(both[Self.opus] ?? 0) / 70_000 + Double(both[Self.red] ?? 0) / 190_000
    #expect(seconds > 2.9 && seconds < 3.3, "\(both)")
  }

  @Test func `Opus at its most goes on whole, also behind a stall of a fifth of a second`() {
    let person = publisher()
    // 510 kbit/s in 20 ms each.
    for number in 0..<500 {
      let moment = (200..<210).contains(number) ? 209 : number
      #expect(
        person.publish(packet(number, Self.opus, bytes: 12 + 1_275), at: milliseconds(moment * 20)) != nil)
    }
    #expect(person.context.counters[.soundOverRate] == 0)
  }
}
