/// What an encoding's own headers say of its layers. No state: the next key frame says it again, and until then nothing is
/// taken for granted.
struct SourceLayers: BitwiseCopyable {
  /// Of VP9: the highest layer of size that is sent, and the one that the last picture ended with.
  var top: UInt8 = 0
  var last: UInt8 = 0
  /// Of H.265, by its last sequence parameter set: the highest sub-layer that there may be, 255 where it isn't known; and whether
  /// one can go on to every higher one behind each picture.
  var topSubLayer: UInt8 = 255
  var subLayersAreNested = false
}
