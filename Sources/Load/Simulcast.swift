internal import SyntheticPeers

extension LoadOptions.Video {
  /// The encodings of a publisher's picture as browsers make them: each half as wide and high as the one before, at a quarter of its rate, in
  /// three layers of frame rate. What isn't watched isn't sent.
  var simulcast: LayeredVideo {
    let all = zip(["f", "h", "q"], 0...).prefix(encodings).map { rid, step in
      LayeredVideo.Encoding(
        rid: rid, width: UInt16(1_280 >> step), height: UInt16(720 >> step),
        rate: max(bitrate >> (2 * step), Self.leastRate))
    }
    var video = LayeredVideo(encodings: all, structure: LayerStructure(codec: .vp8, temporalLayers: 3))
    video.interval = 1_000_000_000 / Int64(LoadOptions.framesPerSecond)
    video.obeysPublish = true
    return video
  }

  /// A packet for each picture, with what tells it from every other.
  private static let leastRate = 8_000
}
