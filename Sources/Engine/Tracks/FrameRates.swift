internal import Model

/// How many pictures a second each layer of frame rate has, over the last second, looked at ten times.
struct FrameRates: BitwiseCopyable {
  private static let window = 10

  private var counts: InlineArray<4, UInt32> = InlineArray(repeating: 0)
  /// By turn and layer.
  private var spans: InlineArray<40, UInt8> = InlineArray(repeating: 0)
  private var turn = 0
  /// Looks that there have been, up to a window.
  private var looks = 0
  /// A picture more or less in a second changes nothing.
  private var shown: InlineArray<4, UInt8> = InlineArray(repeating: 0)

  init() {}

  mutating func sample(_ new: LayerCounts) {
    var isAny = false
    for temporal in 0..<LayerCounts.temporal {
      let count = new.pictures(temporal: temporal)
      spans[turn * LayerCounts.temporal + temporal] = UInt8(clamping: count &- counts[temporal])
      isAny = isAny || count != counts[temporal]
      counts[temporal] = count
    }
    turn = (turn + 1) % Self.window
    looks = min(looks + 1, Self.window)
    // As it was while it came.
    guard isAny, looks == Self.window else { return }
    var sum = 0
    for temporal in 0..<LayerCounts.temporal {
      for look in 0..<Self.window { sum += Int(spans[look * LayerCounts.temporal + temporal]) }
      let rate = UInt8(clamping: sum)
      if abs(Int(rate) - Int(shown[temporal])) > 1 { shown[temporal] = rate }
    }
  }

  /// Pictures a second with all layers up to one; nil while a second hasn't been measured.
  func upTo(temporal: Int) -> UInt8? {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.framesOfAll), looks == Self.window { return shown[LayerCounts.temporal - 1] }
    #endif
    return looks == Self.window && shown[temporal] > 0 ? shown[temporal] : nil
  }
}
