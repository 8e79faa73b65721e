import Model
import Testing

@testable import Congestion

@Suite("What a picture usually takes", .timeLimit(.minutes(1)))
struct UsualRateTests {
  private func bits(_ width: Int, _ height: Int, _ frameRate: Int = 30, _ codec: Codec = .vp8) -> Double {
    UsualRate.bits(pixels: width * height, frameRate: frameRate, codec)
  }

  /// Those of libwebrtc's simulcast.
  @Test(arguments: [
    (320, 180, 150e3, 142e3), (480, 270, 350e3, 257e3), (640, 360, 500e3, 420e3), (960, 540, 1.2e6, 879e3),
    (1_280, 720, 2.5e6, 1.524e6), (1_920, 1_080, 4e6, 3.367e6),
  ])
  func `a picture of a usual size takes what a browser gives it`(
    width: Int, height: Int, rate: Double, better: Double
  ) {
    for codec in [Codec.vp8, .h264] { #expect(abs(bits(width, height, 30, codec) - rate) < 1) }
    for codec in [Codec.vp9, .av1, .h265] { #expect(abs(bits(width, height, 30, codec) - better) < 1) }
  }

  @Test func `sizes between two lie between what those take, and larger ones go on`() {
    #expect(abs(bits(800, 450) - (500e3 + 700e3 * (360_000.0 - 230_400) / (518_400 - 230_400))) < 1)
    #expect(bits(160, 90) < bits(320, 180) && bits(160, 90) > 30e3)
    #expect(bits(3_840, 2_160) > 2 * bits(1_920, 1_080))
    for codec in Codec.allCases where codec.kind == .video {
      let sizes = [1, 100, 57_600, 57_601, 100_000, 129_600, 230_400, 900_000, 921_600, 2_073_600, 9_000_000]
      let rates = sizes.map { UsualRate.bits(pixels: $0, frameRate: 30, codec) }
      #expect(zip(rates, rates.dropFirst()).allSatisfy { $0 <= $1 })
    }
  }

  @Test func `half the pictures take six tenths, a quarter four, twice as many less than twice as much`() {
    let whole = bits(640, 360)
    #expect(abs(bits(640, 360, 15) - 0.6 * whole) < 1)
    #expect(bits(640, 360, 7) < 0.4 * whole && bits(640, 360, 8) > 0.4 * whole)
    #expect(bits(640, 360, 60) > 1.3 * whole && bits(640, 360, 60) < 2 * whole)
    let rates = (1...120).map { bits(1_280, 720, $0) }
    #expect(zip(rates, rates.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test func `what isn't known counts as usual, and nothing is nothing or without end`() {
    #expect(UsualRate.bits(pixels: 0, frameRate: 0, .vp8) == bits(640, 360))
    #expect(UsualRate.bits(pixels: -5, frameRate: -5, .vp8) == bits(640, 360))
    for pixels in [1, Int.max] {
      for frameRate in [1, 255, Int.max] {
        let rate = UsualRate.bits(pixels: pixels, frameRate: frameRate, .vp8)
        #expect(BandwidthEstimator.bounds.contains(rate))
      }
    }
  }
}
