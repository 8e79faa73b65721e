/// Why bytes are no packet of Opus.
public enum OpusError: Error, Equatable, Sendable {
  case empty
  /// It has a code that counts its frames in a byte of its own, and lacks that, or counts none (RFC 6716 §3.2.5).
  case noFrames
  /// More than 120 ms (RFC 6716 §3.2.5, [R5]).
  case tooLong(samples: Int)
}

/// What a packet of Opus says of its length in time (RFC 6716 §3.1, §3.2). Samples are counted at 48 kHz, as RTP and Ogg do.
public struct OpusPacket: Equatable, Sendable {
  /// 120 ms.
  public static let longest = 5_760
  /// Of the shortest frame, 2.5 ms: each duration is a multiple of it.
  public static let unit = 120

  /// The first byte: what the frames are coded by, stereo, and how many there are.
  public let head: UInt8
  /// Samples of each frame.
  public let frameSize: Int
  /// 1–48.
  public let frames: Int

  /// 120–5,760.
  public var samples: Int { frameSize * frames }
  public var isStereo: Bool { head & 0x04 != 0 }

  /// - Parameter packet: nothing of it is kept.
  public init(_ packet: some Collection<UInt8>) throws(OpusError) {
    guard let head = packet.first else { throw .empty }
    self.head = head
    frameSize = Self.frameSize(head)
    switch head & 3 {
    case 0: frames = 1
    case 1, 2: frames = 2
    default:
      guard let count = packet.dropFirst().first, count & 0x3F > 0 else { throw .noFrames }
      frames = Int(count & 0x3F)
    }
    guard samples <= Self.longest else { throw .tooLong(samples: samples) }
  }

  /// By the configuration in the upper five bits: of SILK, of both, and of CELT (table 2).
  public static func frameSize(_ head: UInt8) -> Int {
    let configuration = Int(head >> 3)
    switch configuration {
    case 0..<12: return [480, 960, 1_920, 2_880][configuration & 3]
    case 12..<16: return configuration & 1 == 0 ? 480 : 960
    default: return Self.unit << (configuration & 3)
    }
  }

  /// A packet without sound, which has a decoder go on by itself: frames of no bytes (RFC 7845 §4.1).
  ///
  /// It is coded as the packet before it, so that the decoder needn't switch; where the time left is less than a frame of that, in
  /// shorter frames of CELT and the same bandwidth.
  /// - Parameters:
  ///   - head: the first byte of the packet before it.
  ///   - most: samples that are missing, at least `unit`.
  /// - Returns: the packet, and how many samples it stands for: as many as one packet can, at most `most`.
  public static func silence(after head: UInt8, most: Int) -> (bytes: [UInt8], samples: Int) {
    var coded = head & 0xFC
    if frameSize(coded) > most {
      let steps = most >= 8 * unit ? 3 : most >= 4 * unit ? 2 : most >= 2 * unit ? 1 : 0
      coded = celt(coded) | UInt8(steps) << 3
    }
    let size = frameSize(coded)
    let frames = max(1, min(most, longest) / size)
    return (frames == 1 ? [coded] : [coded | 3, UInt8(frames)], frames * size)
  }

  /// CELT of the same bandwidth, which it has no medium one of.
  private static func celt(_ head: UInt8) -> UInt8 {
    let bandwidth: UInt8 =
      switch head >> 3 {
      case 0..<4, 16..<20: 16
      case 4..<12, 20..<24: 20
      case 12..<14, 24..<28: 24
      default: 28
      }
    return bandwidth << 3 | head & 0x04
  }
}
