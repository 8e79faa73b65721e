internal import Media
internal import Model

/// Which encoding of a simulcast is written: the one with the largest pictures that flows. It changes at key frames alone.
struct EncodingChoice: Sendable {
  /// An encoding that is silent for so long is given up for one that flows.
  static let silence = Duration.milliseconds(1_500)
  /// A key frame that is wanted is asked for again after that; what it takes the server bounds besides.
  static let again = Duration.seconds(2)

  private(set) var current: Int?
  /// Of its last key frame that was written.
  private var pixels = 0
  private(set) var switches: UInt64 = 0
  private var asked: [Int: Instant] = [:]

  /// - Parameter isLate: what is written already was taken after it, so that nothing can change there.
  /// - Returns: whether the frame is to be written.
  mutating func takes(_ frame: EncodedFrame, _ encoding: Int, isLate: Bool, _ inputs: [EncodingInput]) -> Bool
  {
    #if PLANTED_DEFECTS
      let mayBegin = frame.isKeyFrame || PlantedDefect.isOn(.switchesAnywhere)
    #else
      let mayBegin = frame.isKeyFrame
    #endif
    let size = frame.isKeyFrame ? frame.size?.pixels ?? inputs[encoding].pixels ?? 0 : 0
    if let current, current != encoding {
      guard mayBegin, !isLate, size > pixels || Self.isSilent(inputs[current], now: frame.arrival) else {
        return false
      }
      switches &+= 1
    } else if current == nil, !frame.isKeyFrame {
      return false
    }
    current = encoding
    if frame.isKeyFrame { pixels = size }
    return true
  }

  /// Encodings that are to send a key frame: the one that is written, where it lost what it needs; one that could take its place.
  /// - Parameter isWriting: frames can go on; else a file is to begin with one.
  mutating func wanted(_ inputs: [EncodingInput], isWriting: Bool, now: Instant) -> [Int] {
    inputs.indices.filter { encoding in
      guard isWanted(encoding, inputs, isWriting, now: now), let heard = inputs[encoding].heard,
        now - heard < Self.silence
      else { return false }
      if let last = asked[encoding], now - last < Self.again { return false }
      asked[encoding] = now
      return true
    }
  }

  private func isWanted(_ encoding: Int, _ inputs: [EncodingInput], _ isWriting: Bool, now: Instant) -> Bool {
    guard let current, current != encoding else {
      return inputs[encoding].needsKeyFrame || current == nil || !isWriting
    }
    // One of unknown size shows it by its first key frame, or never.
    guard let pixels = inputs[encoding].pixels else { return true }
    return pixels > inputs[current].pixels ?? 0 || Self.isSilent(inputs[current], now: now)
  }

  private static func isSilent(_ input: EncodingInput, now: Instant) -> Bool {
    guard let heard = input.heard else { return true }
    return now - heard >= silence
  }
}
