import Model
import Testing

@Suite("Encodings in their order", .timeLimit(.minutes(1)))
struct TrackLayersTests {
  private func encoding(_ rate: UInt32, width: UInt16 = 0) -> EncodingLayers {
    var encoding = EncodingLayers()
    encoding.isActive = true
    encoding.picture = PictureSize(width: width, height: width)
    encoding.layers = [LayerRate(spatial: 0, temporal: 0, rate: rate, peak: rate)]
    return encoding
  }

  @Test func `the larger picture is the better, then what takes much more, then what is listed later`() {
    let sizes = TrackLayers(encodings: [encoding(100, width: 640), encoding(900, width: 320)])
    #expect(sizes.ranking == [1, 0])
    let rates = TrackLayers(encodings: [encoding(1_000), encoding(400), encoding(300)])
    #expect(rates.ranking.last == 0)
    #expect(TrackLayers(encodings: [encoding(140), encoding(100)]).ranking == [0, 1])
    #expect(TrackLayers(encodings: [encoding(160), encoding(100)]).ranking == [1, 0])
  }

  /// What a publisher announces of its rates reaches as far as a number does.
  @Test(arguments: [0, 1, 2_863_311_531, 2_863_311_532, UInt32.max - 1, .max] as [UInt32])
  func `any rate has its place`(rate: UInt32) {
    for other in [0, 1, 2, 1 << 31, .max] as [UInt32] {
      let layers = TrackLayers(encodings: [encoding(rate), encoding(other), encoding(.max)])
      #expect(layers.ranking.sorted() == [0, 1, 2])
    }
  }
}
