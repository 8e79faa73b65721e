internal import COpus

/// The form in which sound is encoded here: one channel of 48,000 samples a second, in frames of 20 ms.
public enum OpusForm {
  public static let sampleRate = 48_000
  public static let frameSamples = 960
  /// Of a coded frame (RFC 6716 §3.2.1 allows 1,275 for one of 20 ms).
  public static let byteLimit = 1_275
  /// In bits per second (RFC 6716 §2.1.1).
  public static let bitrates = 6_000...510_000
}

/// Encodes sound with libopus, frame by frame. It belongs to one thread at a time.
public final class OpusEncoder {
  private let encoder: OpaquePointer

  /// - Parameter bitrate: in bits per second, 6,000–510,000. libopus has meanings of its own for some numbers outside of that.
  public init(bitrate: Int) throws(CodecError) {
    guard OpusForm.bitrates.contains(bitrate) else { throw .unavailable(.opus, code: OPUS_BAD_ARG) }
    var status: Int32 = OPUS_OK
    guard let encoder = opus_encoder_create(Int32(OpusForm.sampleRate), 1, OPUS_APPLICATION_AUDIO, &status)
    else { throw .unavailable(.opus, code: status) }
    self.encoder = encoder
    status = ro_set_bitrate(encoder, Int32(bitrate))
    guard status == OPUS_OK else { throw .unavailable(.opus, code: status) }
  }

  deinit { opus_encoder_destroy(encoder) }

  /// - Parameter samples: `OpusForm.frameSamples` of them.
  public func encode(_ samples: [Int16]) throws(CodecError) -> [UInt8] {
    guard samples.count == OpusForm.frameSamples else { throw .samples(samples.count) }
    var bytes = [UInt8](repeating: 0, count: OpusForm.byteLimit)
    let count = opus_encode(encoder, samples, Int32(samples.count), &bytes, Int32(bytes.count))
    guard count > 0 else { throw .notEncoded(.opus, code: count) }
    bytes.removeLast(bytes.count - Int(count))
    return bytes
  }
}
