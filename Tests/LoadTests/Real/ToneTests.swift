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

  @Test func `behind a frame that was lost it is heard again at once`() throws {
    let tone = Tone(place: 9)
    let encoder = try OpusEncoder(bitrate: PublisherEncoder.audioRate)
    let decoder = try OpusDecoder()
    for number in 0..<60 {
      let bytes = try encoder.encode(tone.samples)
      if number % 10 == 5 {
        _ = try decoder.decode(nil)
      } else {
        let samples = try decoder.decode(bytes)
        if number > 2 { #expect(tone.isHeard(in: samples), "frame \(number)") }
      }
    }
  }
}
