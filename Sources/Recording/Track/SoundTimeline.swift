internal import Media
internal import Model
internal import Wire

/// Lays packets of sound into a file so that each is played at its time: what is missing is filled (RFC 7845 §4.1), and where a file
/// counts samples alone, what is too much is left out.
///
/// A publisher's clock may run faster or slower than it says, and by several per cent where a browser has no sound card. A file with
/// times follows that; in one without a packet is left out, or one without sound put in, as soon as a frame's length has added up.
struct SoundTimeline: Sendable {
  /// A packet and when it begins, in samples of its clock from the file's beginning.
  struct Entry: Equatable {
    var bytes: [UInt8]
    var position: Int64
    var samples: Int
  }

  /// Seconds of silence that are written into files of G.711 and G.722, which have a byte for each sample; a longer gap is left out,
  /// as their files have times.
  private static let longestSilence: Int64 = 1
  /// Seconds that are filled in a file with times: who was muted for a day would keep others waiting for their turn.
  private static let longestFill: Int64 = 600

  /// Where the next packet is to begin.
  private var end: Int64 = 0
  private(set) var filled: UInt64 = 0
  private(set) var leftOut: UInt64 = 0

  /// - Parameters:
  ///   - position: when it is to begin, as its publisher's clock has it.
  ///   - countsSamples: the file has no times.
  /// - Returns: what is to be written, in this order.
  mutating func place(_ frame: EncodedFrame, at position: Int64, countsSamples: Bool) -> [Entry] {
    let codec = frame.format.codec
    let gap = position - end
    var entries: [Entry] = []
    // Less than a frame is jitter of clocks; in files with times it does no harm.
    let tolerance = Int64(max(frame.samples, Int(codec.clockRate) / 100))
    if gap >= tolerance, countsSamples || gap <= Self.longestFill * Int64(codec.clockRate) {
      fill(gap, like: frame, &entries)
    }
    if gap <= -tolerance {
      // Before the beginning, or more than there is time for.
      if countsSamples || position < 0 {
        leftOut &+= UInt64(frame.samples)
        return entries
      }
    }
    let start = countsSamples ? end : max(0, position)
    entries.append(Entry(bytes: frame.bytes, position: start, samples: frame.samples))
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.filledAgain) { end = 0 }
    #endif
    // A late packet doesn't move the end back: each gap is filled once, however often timestamps jump back and forth.
    end = max(end, start + Int64(frame.samples))
    return entries
  }

  private mutating func fill(_ gap: Int64, like frame: EncodedFrame, _ entries: inout [Entry]) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.gapsClosed) { return }
    #endif
    switch frame.format.codec {
    case .opus:
      var rest = gap / Int64(OpusPacket.unit) * Int64(OpusPacket.unit)
      while rest > 0 {
        let (bytes, samples) = OpusPacket.silence(after: frame.bytes[0], most: Int(min(rest, 5_760)))
        append(bytes, samples, &entries)
        rest -= Int64(samples)
      }
    case .pcmu, .pcma:
      guard gap <= Self.longestSilence * 8_000 else { return }
      append(Array(repeating: frame.format.codec == .pcmu ? 0xFF : 0xD5, count: Int(gap)), Int(gap), &entries)
    default: break
    }
  }

  private mutating func append(_ bytes: [UInt8], _ samples: Int, _ entries: inout [Entry]) {
    entries.append(Entry(bytes: bytes, position: end, samples: samples))
    end += Int64(samples)
    filled &+= UInt64(samples)
  }
}
