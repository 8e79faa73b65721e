import Foundation
import Testing

@testable import Codecs

@Suite("Opus by libopus", .timeLimit(.minutes(1)))
struct OpusTests {
  private static let frame: [Int16] = (0..<OpusForm.frameSamples).map {
    Int16(9_000 * sin(2 * Double.pi * 1_000 * Double($0) / Double(OpusForm.sampleRate)))
  }

  private func loudness(_ samples: [Int16]) -> Double {
    (samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(max(samples.count, 1))).squareRoot()
  }

  @Test func `sound comes out as loud and as long as it went in`() throws {
    let encoder = try OpusEncoder(bitrate: 32_000)
    let decoder = try OpusDecoder()
    for number in 0..<50 {
      let bytes = try encoder.encode(Self.frame)
      #expect(bytes.count <= OpusForm.byteLimit && !bytes.isEmpty)
      let samples = try decoder.decode(bytes)
      #expect(samples.count == OpusForm.frameSamples)
      // The first one begins with the codec's own delay.
      if number > 0 { #expect(abs(loudness(samples) / loudness(Self.frame) - 1) < 0.2, "frame \(number)") }
    }
  }

  @Test func `a frame that was lost is filled in`() throws {
    let encoder = try OpusEncoder(bitrate: 32_000)
    let decoder = try OpusDecoder()
    for _ in 0..<10 { _ = try decoder.decode(try encoder.encode(Self.frame)) }
    let filled = try decoder.decode(nil)
    #expect(filled.count == OpusForm.frameSamples && loudness(filled) > 500)
    // One that never heard anything has nothing to fill it with.
    #expect(loudness(try OpusDecoder().decode(nil)) == 0)
  }

  @Test(arguments: [0, 1, 959, 961, 48_000]) func `another number of samples is no frame`(count: Int) throws {
    let encoder = try OpusEncoder(bitrate: 32_000)
    #expect(throws: CodecError.samples(count)) { try encoder.encode([Int16](repeating: 0, count: count)) }
  }

  @Test(arguments: [0, -1, Int.min]) func `a rate that can't be is refused`(bitrate: Int) {
    #expect(throws: CodecError.self) { try OpusEncoder(bitrate: bitrate) }
  }

  @Test func `bytes of any kind are an error or sound of at most 120 ms`() throws {
    var random = SystemRandomNumberGenerator()
    let decoder = try OpusDecoder()
    #expect(throws: CodecError.self) { try decoder.decode([]) }
    #expect(throws: CodecError.self) { try decoder.decode([UInt8](repeating: 0xFF, count: 70_000)) }
    for _ in 0..<2_000 {
      let bytes = (0..<Int.random(in: 1...300, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      if let samples = try? decoder.decode(bytes) { #expect(samples.count <= 5_760) }
    }
  }
}
