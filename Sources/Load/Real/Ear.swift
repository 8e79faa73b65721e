internal import Codecs

/// Hears the sound of one stream.
struct Ear {
  /// Frames behind a lost one in which the decoder's sound may be quieter than what was encoded.
  static let settling = 3

  private let decoder: OpusDecoder
  private var sinceLoss = settling

  init() throws(CodecError) { decoder = try OpusDecoder() }

  /// A frame never came.
  mutating func miss() throws(CodecError) {
    _ = try decoder.decode(nil)
    sinceLoss = 0
  }

  /// - Parameter tone: the one that it should be; nil where that isn't known.
  /// - Returns: whether it is; nil where that can't be said.
  mutating func hear(_ tone: Tone?, in bytes: [UInt8]) throws(CodecError) -> Bool? {
    let samples = try decoder.decode(bytes)
    let isSettled = sinceLoss >= Self.settling
    sinceLoss = min(sinceLoss + 1, Self.settling)
    guard let tone else { return nil }
    return tone.isHeard(in: samples) ? true : isSettled ? false : nil
  }
}
