import Congestion
import Model
import Testing
import Wire

@testable import Media

@Suite("What a publisher hears of its path", .timeLimit(.minutes(2)))
struct PublisherPathTests {
  private static let sendTime: UInt8 = 4

  private func publisher(remb: Bool = false, ccfb: Bool = false, stamps: Bool = true) -> Person {
    var extensions = HeaderExtensionMap()
    if stamps { extensions[.absoluteSendTime] = Self.sendTime }
    return Person(
      1,
      AgreedMedia(
        receive: [
          ReceiveSection(
            index: 0, mid: "0", kind: .video,
            codecs: [NegotiatedCodec(format: .vp8, payloadType: 96, remb: remb, ccfb: ccfb)],
            extensions: extensions, ssrc: 10, rtxSSRC: 11, cname: "p")
        ], allowsReducedSizeRTCP: true))
  }

  /// A packet that left `left` seconds after the test's beginning.
  private func packet(_ number: Int, left: Double, stamps: Int = 1) -> [UInt8] {
    let units = UInt32(truncatingIfNeeded: Int64(left * 262_144)) & 0xFF_FFFF
    let element: [UInt8] = [
      Self.sendTime << 4 | 2, UInt8(units >> 16), UInt8(units >> 8 & 255), UInt8(units & 255),
    ]
    let head: [UInt8] = [
      0x90, 96, UInt8(number >> 8 & 255), UInt8(number & 255), 0, 0, UInt8(number >> 8 & 255),
      UInt8(number & 255), 0, 0, 0, 10, 0xBE, 0xDE, 0, UInt8(stamps),
    ]
    let elements = (0..<stamps).flatMap { _ in element }
    return head + elements + vp8(key: number == 0) + Array(repeating: 1, count: 1_000)
  }

  private struct Word {
    var at: Int
    var bitrate: UInt64
  }

  /// Sends packets for a while at one rate, of which a path takes another.
  private func send(_ person: Person, capacity: Double, rate: Double, seconds: Int) -> [Word] {
    var words: [Word] = []
    let interval = 1_046.0 * 8 / rate
    var leaves = 0.0
    var number = 0
    var free = 0.0
    for step in 0..<seconds * 1_000 {
      while leaves * 1_000 <= Double(step) {
        free = max(free, leaves) + 1_046.0 * 8 / capacity
        let moment = start + .nanoseconds(Int64((free + 0.02) * 1e9))
        _ = person.publish(packet(number, left: leaves), at: moment)
        number += 1
        leaves += interval
      }
      let now = milliseconds(step)
      guard person.session.deadline <= now else { continue }
      person.session.poll(now: now, ratesChanged: false, context: &person.context)
      for index in 0..<person.context.output.count {
        var reader = RTCPReader(person.context.output.bytes(index))
        while let packet = try? reader.next() {
          guard packet.kind == .applicationFeedback, let word = try? ReceiverEstimate(packet) else {
            continue
          }
          #expect(word[0] == 10 && word.count == 1)
          words.append(Word(at: step, bitrate: word.bitrate))
        }
      }
      person.context.output.removeAll()
    }
    return words
  }

  @Test func `without times of sending it hears the constant once a second`() {
    let words = send(publisher(remb: true, stamps: false), capacity: 5e6, rate: 500e3, seconds: 10)
    #expect(words.count >= 9 && words.count <= 11)
    #expect(words.allSatisfy { $0.bitrate > 990_000 && $0.bitrate <= 1_000_000 })
  }

  @Test func `with them it hears an estimate, which begins at the start and ends at the constant`() throws {
    let words = send(publisher(remb: true), capacity: 20e6, rate: 1.5e6, seconds: 30)
    #expect(words.count >= 29)
    #expect(words[0].bitrate < 700_000)
    #expect(words.last!.bitrate > 990_000 && words.last!.bitrate <= 1_000_000)
  }

  @Test func `a path that carries less is said, a fall at once`() throws {
    let words = send(publisher(remb: true), capacity: 400e3, rate: 600e3, seconds: 12)
    let low = try #require(words.first { $0.bitrate < 420_000 })
    #expect(low.at < 3_000)
    #expect(words.count > 12)
    #expect(words.allSatisfy { $0.bitrate >= 30_000 })
  }

  @Test func `a packet that says it many times says it once`() {
    let person = publisher(remb: true)
    for number in 0..<200 {
      _ = person.publish(
        packet(number, left: Double(number) / 100, stamps: 20), at: milliseconds(number * 10))
    }
    #expect(person.session.path.sendTimes.estimate != nil)
    #expect(person.session.path.sendTimes.deadline == .never)
  }

  @Test func `who offers RFC 8888 alone hears of each packet by stream, lost ones too`() throws {
    let person = publisher(ccfb: true, stamps: false)
    for number in [0, 1, 3, 4, 7] {
      _ = person.publish(packet(number, left: 0), at: milliseconds(number * 5))
    }
    let due = person.session.feedbackDeadline
    #expect(due <= milliseconds(50))
    person.session.poll(now: milliseconds(50), ratesChanged: false, context: &person.context)
    var arrived: [UInt16] = []
    var missing: [UInt16] = []
    for index in 0..<person.context.output.count {
      var reader = RTCPReader(person.context.output.bytes(index))
      while let packet = try reader.next() {
        #expect(packet.kind != .transportFeedback && packet.kind != .applicationFeedback)
        guard packet.kind == .congestionFeedback else { continue }
        var streams = try CongestionFeedback(packet).streams
        while let stream = streams.next() {
          #expect(stream.ssrc == 10)
          for place in 0..<stream.count {
            let number = stream.begin &+ UInt16(place)
            if stream[place]?.isReceived == true { arrived.append(number) } else { missing.append(number) }
          }
        }
      }
    }
    #expect(arrived == [0, 1, 3, 4, 7] && missing == [2, 5, 6])
  }
}
