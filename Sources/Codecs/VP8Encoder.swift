internal import CVPX

/// Encodes pictures of one size with libvpx as for a conversation: no picture waits for the next one, none is left out, and
/// key frames come at the beginning and where they are asked for. It belongs to one thread at a time.
public final class VP8Encoder {
  public struct Frame: Equatable, Sendable {
    public var bytes: [UInt8]
    public var isKeyFrame: Bool
  }

  public let width: Int
  public let height: Int
  private let framesPerSecond: Int
  private var context = vpx_codec_ctx_t()
  /// Pictures that it was given.
  private var count: Int64 = 0

  /// As fast as libvpx has it: what is lost in quality at a rate doesn't matter here.
  private static let speed: Int32 = -8
  private static let quantizers: ClosedRange<UInt32> = 4...56

  /// - Parameters:
  ///   - width: pixels, even, from 16 to `Picture.longestSide`; `height` likewise.
  ///   - bitrate: in bits per second, at least 10,000; pictures of a kind that it can't hold are larger.
  ///   - framesPerSecond: 1–60.
  public init(width: Int, height: Int, bitrate: Int, framesPerSecond: Int) throws(CodecError) {
    guard Picture.isSide(width), Picture.isSide(height) else { throw .size(width: width, height: height) }
    guard (10_000...100_000_000).contains(bitrate), (1...60).contains(framesPerSecond) else {
      throw .unavailable(.vpx, code: Int32(VPX_CODEC_INVALID_PARAM.rawValue))
    }
    self.width = width
    self.height = height
    self.framesPerSecond = framesPerSecond
    var configuration = vpx_codec_enc_cfg_t()
    let status = vpx_codec_enc_config_default(vpx_codec_vp8_cx(), &configuration, 0)
    guard status == VPX_CODEC_OK else { throw .unavailable(.vpx, code: Int32(status.rawValue)) }
    configuration.g_w = UInt32(width)
    configuration.g_h = UInt32(height)
    configuration.g_timebase = vpx_rational(num: 1, den: Int32(framesPerSecond))
    configuration.g_threads = 1
    configuration.g_lag_in_frames = 0
    configuration.rc_end_usage = VPX_CBR
    configuration.rc_target_bitrate = UInt32(bitrate / 1_000)
    configuration.rc_dropframe_thresh = 0
    configuration.rc_min_quantizer = Self.quantizers.lowerBound
    configuration.rc_max_quantizer = Self.quantizers.upperBound
    configuration.kf_mode = VPX_KF_DISABLED
    try begin(&configuration)
  }

  private func begin(_ configuration: inout vpx_codec_enc_cfg_t) throws(CodecError) {
    var status = rv_begin_encoder(&context, &configuration)
    if status == VPX_CODEC_OK { status = rv_set_speed(&context, Self.speed) }
    guard status == VPX_CODEC_OK else { throw .unavailable(.vpx, code: Int32(status.rawValue)) }
  }

  deinit { vpx_codec_destroy(&context) }

  /// - Parameter isKeyFrame: nothing before is referred to; the first one is in any case.
  /// - Throws: `size` for a picture of other sides, `notEncoded` where libvpx refuses.
  public func encode(_ picture: Picture, isKeyFrame: Bool) throws(CodecError) -> Frame {
    guard picture.width == width, picture.height == height else {
      throw .size(width: picture.width, height: picture.height)
    }
    let flags = isKeyFrame ? vpx_enc_frame_flags_t(VPX_EFLAG_FORCE_KF) : 0
    var samples = picture.samples
    let status = samples.withUnsafeMutableBufferPointer { buffer -> vpx_codec_err_t in
      var image = vpx_image_t()
      guard
        vpx_img_wrap(&image, VPX_IMG_FMT_I420, UInt32(width), UInt32(height), 1, buffer.baseAddress) != nil
      else { return VPX_CODEC_MEM_ERROR }
      return vpx_codec_encode(&context, &image, count, 1, flags, UInt(VPX_DL_REALTIME))
    }
    count += 1
    guard status == VPX_CODEC_OK else { throw .notEncoded(.vpx, code: Int32(status.rawValue)) }
    var position: vpx_codec_iter_t?
    while let packet = vpx_codec_get_cx_data(&context, &position) {
      guard packet.pointee.kind == VPX_CODEC_CX_FRAME_PKT, let bytes = rv_frame_bytes(packet) else {
        continue
      }
      return Frame(
        bytes: Array(UnsafeRawBufferPointer(start: bytes, count: rv_frame_size(packet))),
        isKeyFrame: rv_frame_is_key(packet) != 0)
    }
    throw .notEncoded(.vpx, code: Int32(VPX_CODEC_ERROR.rawValue))
  }
}
