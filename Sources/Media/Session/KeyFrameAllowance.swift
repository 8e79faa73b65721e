internal import Model

/// How often a subscriber whose stream flows may have the publisher asked for a key frame, which all who get the track pay for.
///
/// The first request counts at once. While more come each has to wait for twice as long as the one before it; after a calm it begins
/// again. One whose stream waits for a key frame is not bounded here.
struct KeyFrameAllowance: BitwiseCopyable {
  private static let shortest = Duration.milliseconds(500)
  private static let longest = Duration.seconds(4)
  private static let calm = Duration.seconds(20)

  private var taken = Instant(nanoseconds: .min / 2)
  private var wait = KeyFrameAllowance.shortest

  init() {}

  /// - Returns: false where the request is to be left alone.
  mutating func take(now: Instant) -> Bool {
    let passed = now - taken
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.keyFramesAsAsked) { return true }
    #endif
    guard passed >= wait else { return false }
    wait = passed >= Self.calm ? Self.shortest : min(wait * 2, Self.longest)
    taken = now
    return true
  }
}
