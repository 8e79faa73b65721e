/// How a slot's stream was cut, because what was to leave waited for too long.
struct StreamCuts: BitwiseCopyable {
  /// Key frames in a row that could not leave whole, although the slot waited for them.
  private(set) var keyFrames = 0
  /// It was cut, and its source is still to be asked for the key frame with which it goes on.
  var isUnmended = false
  /// How often a source was joined to the stream, and at which of them it was cut last.
  private var joins: UInt32 = 0
  private var lastJoin: UInt32 = 0

  init() {}

  mutating func noteJoin() {
    joins &+= 1
    isUnmended = false
  }

  /// - Parameter isKeyFrame: the cut goes through the key frame with which the source was joined.
  mutating func note(isKeyFrame: Bool) {
    let isNext = joins == lastJoin &+ 1
    keyFrames = !isKeyFrame ? 0 : isNext ? keyFrames &+ 1 : 1
    lastJoin = joins
  }
}
