public import Model

/// What a picture usually takes, where nothing was measured of it and its publisher doesn't say: by its size, its frame rate and its
/// codec.
///
/// The figures are those that libwebrtc gives each encoding of a simulcast at most unless it is set another rate
/// (`video/config/simulcast.cc`: target bitrates of VP8, which hold for H.264 as well, and of VP9), at thirty pictures a second. Other
/// sizes lie between two of them on a straight line. Half the pictures take six tenths, as libwebrtc shares a rate out over layers of
/// frame rate.
public enum UsualRate {
  private struct Row {
    var pixels: Double
    /// Bits per second in VP8 and H.264, and in codecs that take less.
    var rate: Double
    var better: Double
  }

  private static let rows = [
    Row(pixels: 0, rate: 30e3, better: 30e3),
    Row(pixels: 320 * 180, rate: 150e3, better: 142e3),
    Row(pixels: 480 * 270, rate: 350e3, better: 257e3),
    Row(pixels: 640 * 360, rate: 500e3, better: 420e3),
    Row(pixels: 960 * 540, rate: 1_200e3, better: 879e3),
    Row(pixels: 1_280 * 720, rate: 2_500e3, better: 1_524e3),
    Row(pixels: 1_920 * 1_080, rate: 4_000e3, better: 3_367e3),
  ]

  /// Of what thirty pictures a second take, by pictures a second.
  private static let shares: [(pictures: Double, share: Double)] = [
    (0, 0.2), (7.5, 0.4), (15, 0.6), (30, 1), (60, 1.6),
  ]

  /// - Parameters:
  ///   - pixels: of a picture; 0: it isn't known, and counts as one of 640 × 360.
  ///   - frameRate: pictures a second; 0: it isn't known, and counts as thirty.
  /// - Returns: bits per second, within the bounds of what is believed of any path.
  public static func bits(pixels: Int, frameRate: Int, _ codec: Codec) -> Double {
    let pixels = pixels > 0 ? Double(pixels) : 640 * 360
    let pictures = frameRate > 0 ? Double(frameRate) : 30
    let rate = line(rows.map { ($0.pixels, isBetter(codec) ? $0.better : $0.rate) }, at: pixels)
    let share = line(shares.map { ($0.pictures, $0.share) }, at: pictures)
    let bounds = BandwidthEstimator.bounds
    return min(max(rate * share, bounds.lowerBound), bounds.upperBound)
  }

  private static func isBetter(_ codec: Codec) -> Bool {
    switch codec {
    case .vp9, .av1, .h265: true
    default: false
    }
  }

  /// Between two points what lies on the line through both; beyond the last the line goes on.
  private static func line(_ points: [(x: Double, y: Double)], at x: Double) -> Double {
    let above = points.firstIndex { $0.x >= x } ?? points.count - 1
    let (low, high) = (points[max(above, 1) - 1], points[max(above, 1)])
    return low.y + (high.y - low.y) * (x - low.x) / (high.x - low.x)
  }
}
