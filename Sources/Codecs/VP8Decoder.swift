internal import CVPX

/// Decodes pictures with libvpx, of any bytes: what is none, or says that it is larger than the bound, is refused. It
/// belongs to one thread at a time.
public final class VP8Decoder {
  private let longestSide: Int
  private var context = vpx_codec_ctx_t()

  /// Bytes of a coded picture, at most.
  public static let byteLimit = 1 << 20

  /// - Parameter longestSide: pixels; a picture of a longer side is refused before memory is taken for it.
  public init(longestSide: Int = Picture.longestSide) throws(CodecError) {
    self.longestSide = min(longestSide, Picture.longestSide)
    var configuration = vpx_codec_dec_cfg_t(threads: 1, w: 0, h: 0)
    let status = rv_begin_decoder(&context, &configuration)
    guard status == VPX_CODEC_OK else { throw .unavailable(.vpx, code: Int32(status.rawValue)) }
  }

  deinit { vpx_codec_destroy(&context) }

  /// - Parameter bytes: one whole coded picture.
  /// - Returns: nil for one that isn't to be shown.
  /// - Throws: `tooLarge`, `damaged`, or `notDecoded` for what is no picture of VP8, or comes before the first key frame.
  public func decode(_ bytes: [UInt8]) throws(CodecError) -> Picture? {
    guard !bytes.isEmpty, bytes.count <= Self.byteLimit else {
      throw .notDecoded(.vpx, code: Int32(VPX_CODEC_UNSUP_BITSTREAM.rawValue))
    }
    try checkSize(of: bytes)
    let status = bytes.withUnsafeBufferPointer {
      vpx_codec_decode(&context, $0.baseAddress, UInt32($0.count), nil, 0)
    }
    guard status == VPX_CODEC_OK else { throw .notDecoded(.vpx, code: Int32(status.rawValue)) }
    // All of them are taken: a picture that stays would come out behind the next one.
    var position: vpx_codec_iter_t?
    var last: UnsafeMutablePointer<vpx_image_t>?
    while let image = vpx_codec_get_frame(&context, &position) { last = image }
    guard let last else { return nil }
    var isDamaged: Int32 = 0
    guard rv_get_corrupted(&context, &isDamaged) == VPX_CODEC_OK, isDamaged == 0 else { throw .damaged }
    return try Self.picture(last.pointee)
  }

  /// The size stands in a key frame alone (RFC 6386 §9.1).
  private func checkSize(of bytes: [UInt8]) throws(CodecError) {
    guard bytes[0] & 1 == 0, bytes.count >= 10 else { return }
    let width = (Int(bytes[7]) << 8 | Int(bytes[6])) & 0x3FFF
    let height = (Int(bytes[9]) << 8 | Int(bytes[8])) & 0x3FFF
    guard max(width, height) <= longestSide else { throw .tooLarge(width: width, height: height) }
  }

  private static func picture(_ image: vpx_image_t) throws(CodecError) -> Picture {
    let (width, height) = (Int(image.d_w), Int(image.d_h))
    guard image.fmt == VPX_IMG_FMT_I420, Picture.isSide(width), Picture.isSide(height) else {
      throw .size(width: width, height: height)
    }
    var samples: [UInt8] = []
    samples.reserveCapacity(width * height * 3 / 2)
    let planes = [
      (image.planes.0, image.stride.0, 1), (image.planes.1, image.stride.1, 2),
      (image.planes.2, image.stride.2, 2),
    ]
    for (plane, stride, part) in planes {
      guard let plane, Int(stride) >= width / part else { throw .size(width: width, height: height) }
      for row in 0..<height / part {
        samples.append(
          contentsOf: UnsafeBufferPointer(start: plane + row * Int(stride), count: width / part))
      }
    }
    return Picture(width: width, height: height, samples: samples)
  }
}
