/// What a codec refused, and why.
public enum CodecError: Error, Equatable, Sendable {
  /// A picture of other sides than the encoder's, or of sides that are odd or outside of 16–`Picture.longestSide`.
  case size(width: Int, height: Int)
  /// A coded picture that says it is larger than the decoder's bound.
  case tooLarge(width: Int, height: Int)
  /// Not as many samples as a frame has.
  case samples(Int)
  /// The library could not begin, for want of memory or for settings that it doesn't take.
  case unavailable(Library, code: Int32)
  /// The library refused to encode.
  case notEncoded(Library, code: Int32)
  /// What came is no picture or sound of the codec.
  case notDecoded(Library, code: Int32)
  /// The picture was decoded, but refers to one that was damaged or never came.
  case damaged

  public enum Library: Sendable {
    case vpx, opus
  }
}
