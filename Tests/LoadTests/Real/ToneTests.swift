import Codecs
import Testing

@testable import Load

@Suite("Tones", .timeLimit(.minutes(1)))
struct ToneTests {
  private func coded(_ frames: [[Int16]]) throws -> [[Int16]] {
    let encoder = try OpusEncoder(bitrate: PublisherEncoder.audioRate)
    let decoder = try OpusDecoder()
    return try frames.map { try decoder.decode(try encoder.encode($0)) }
  }

  @Test(arguments: [0, 1, 7, 15, 31]) func `a tone is heard behind Opus, and no other`(place: Int) throws {
    let tone = Tone(place: place)
    for frame in try coded(Array(repeating: tone.samples, count: 30)).dropFirst(2) {
      #expect((0..<32).filter { Tone(place: $0).isHeard(in: frame) } == [place])
    }
  }

  @Test func `silence, noise and two tones at once are no tone`() throws {
    #expect(!Tone(place: 0).isHeard(in: [Int16](repeating: 0, count: 960)))
    #expect(!Tone(place: 0).isHeard(in: Tone(place: 0).samples.map { $0 / 8 }))
    #expect(!Tone(place: 0).isHeard(in: (0..<960).map { Int16(truncatingIfNeeded: $0 &* 40_503 &* $0) }))
    let both = zip(Tone(place: 0).samples, Tone(place: 4).samples).map { $0 / 2 + $1 / 2 }
    #expect(!Tone(place: 0).isHeard(in: both) && !Tone(place: 4).isHeard(in: both))
  }

  @Test func `half of a frame is none`() {
    let tone = Tone(place: 3)
    #expect(tone.isHeard(in: tone.samples))
    #expect(!tone.isHeard(in: Array(tone.samples[..<480])))
    #expect(!tone.isHeard(in: []))
  }

  @Test func `behind a frame that was lost it is heard again soon, and until then it isn't said to be wrong`()
    throws
  {
    let tone = Tone(place: 9)
    let encoder = try OpusEncoder(bitrate: PublisherEncoder.audioRate)
    var ear = try Ear()
    var unsure = 0
    for number in 0..<60 {
      let bytes = try encoder.encode(tone.samples)
      if number % 10 == 5 {
        try ear.miss()
      } else {
        let isRight = try ear.hear(tone, in: bytes)
        unsure += isRight == nil ? 1 : 0
        #expect(number <= 2 || isRight != false, "frame \(number)")
      }
    }
    #expect(unsure <= 6 * Ear.settling)
  }

  @Test func `another tone is wrong once the decoder is settled`() throws {
    let encoder = try OpusEncoder(bitrate: PublisherEncoder.audioRate)
    var ear = try Ear()
    var heard: [Bool?] = []
    for _ in 0..<10 {
      heard.append(try ear.hear(Tone(place: 8), in: try encoder.encode(Tone(place: 9).samples)))
    }
    #expect(heard == Array(repeating: false, count: 10))
    try ear.miss()
    heard = []
    for _ in 0..<6 {
      heard.append(try ear.hear(Tone(place: 8), in: try encoder.encode(Tone(place: 9).samples)))
    }
    #expect(heard == [nil, nil, nil, false, false, false])
    #expect(try ear.hear(nil, in: try encoder.encode(Tone(place: 9).samples)) == nil)
  }
}
