internal import COpus

/// Decodes sound with libopus to one channel of 48,000 samples a second. It belongs to one thread at a time.
public final class OpusDecoder {
  private let decoder: OpaquePointer
  /// Samples that a packet can hold: 120 ms (RFC 6716 §2.1.4).
  private static let mostSamples = 5_760

  public init() throws(CodecError) {
    var status: Int32 = OPUS_OK
    guard let decoder = opus_decoder_create(Int32(OpusForm.sampleRate), 1, &status) else {
      throw .unavailable(.opus, code: status)
    }
    self.decoder = decoder
  }

  deinit { opus_decoder_destroy(decoder) }

  /// - Parameter bytes: one packet; nil for one that was lost, whose sound is guessed: `OpusForm.frameSamples` of it.
  public func decode(_ bytes: [UInt8]?) throws(CodecError) -> [Int16] {
    var samples = [Int16](
      repeating: 0, count: bytes == nil ? OpusForm.frameSamples : Self.mostSamples)
    let count: Int32
    if let bytes {
      // Without bytes libopus takes it for one that was lost.
      guard !bytes.isEmpty, bytes.count <= Int(UInt16.max) else {
        throw .notDecoded(.opus, code: OPUS_INVALID_PACKET)
      }
      count = opus_decode(decoder, bytes, Int32(bytes.count), &samples, Int32(samples.count), 0)
    } else {
      count = opus_decode(decoder, nil, 0, &samples, Int32(samples.count), 0)
    }
    guard count >= 0 else { throw .notDecoded(.opus, code: count) }
    samples.removeLast(samples.count - Int(count))
    return samples
  }
}
