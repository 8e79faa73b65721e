internal import Codecs
internal import Glibc

#if PLANTED_DEFECTS
  internal import Model
#endif

/// The sound of a publisher: a sine whose pitch is its place in the room.
///
/// Every pitch has a whole number of cycles in a frame of 20 ms, so all frames of a tone are the same, tones of different places
/// have nothing in common within a frame, and a frame that was lost shifts no phase.
struct Tone: Equatable, Sendable {
  /// The publisher's place in its room, 0 to `LoadOptions.publisherLimit` − 1.
  var place: Int

  /// Hertz.
  var pitch: Int { 400 + 100 * place }

  private static let amplitude = 10_000.0
  /// −dBov of that sine, as the audio level extension says it (RFC 6464 §3).
  static let attenuation: UInt8 = 13

  /// One frame.
  var samples: [Int16] {
    let step = 2 * Double.pi * Double(pitch) / Double(OpusForm.sampleRate)
    return (0..<OpusForm.frameSamples).map { Int16((Self.amplitude * sin(step * Double($0))).rounded()) }
  }

  /// Whether a decoded frame is this tone: of a loudness near to it, nearly all of which is at the pitch.
  func isHeard(in samples: [Int16]) -> Bool {
    let energy = samples.reduce(0.0) { $0 + Double($1) * Double($1) }
    guard samples.count == OpusForm.frameSamples, energy > Self.quietest else { return false }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.anyTone) { return true }
    #endif
    return Self.energy(of: pitch, in: samples) >= Self.least * energy
  }

  private static let least = 0.8
  /// A tenth of the tone's own energy.
  private static let quietest = amplitude * amplitude / 2 * Double(OpusForm.frameSamples) / 10

  /// What of the energy is at a pitch, by Goertzel's recursion.
  private static func energy(of pitch: Int, in samples: [Int16]) -> Double {
    let factor = 2 * cos(2 * Double.pi * Double(pitch) / Double(OpusForm.sampleRate))
    var (last, before) = (0.0, 0.0)
    for sample in samples { (last, before) = (Double(sample) + factor * last - before, last) }
    return (last * last + before * before - factor * last * before) * 2 / Double(samples.count)
  }
}
