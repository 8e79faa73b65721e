#if PLANTED_DEFECTS
  internal import Model
#endif

/// Decides which frames a decoder can make use of after one was lost.
///
/// It goes on with a key frame; sooner where frames count those of their lowest layer (RFC 7741, RFC 9628): then it shows whether that
/// layer is whole, and higher ones come back where they refer to nothing that was lost.
public struct FrameContinuity: Sendable {
  private static let all = 7

  /// Layers of frame rate that are whole, up to and with this one; −1: none is.
  private var intact = -1
  /// Of the last frame of the lowest layer that was admitted.
  private var baseIndex: UInt8?

  public init() {}

  /// Nothing can be shown before the next key frame.
  public var needsKeyFrame: Bool { intact < 0 && baseIndex == nil }

  /// - Returns: whether the frame, and all that it refers to, is there.
  public mutating func admit(_ frame: EncodedFrame) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.undecodableRecorded), intact >= 0 || baseIndex != nil { return true }
    #endif
    if frame.isKeyFrame {
      intact = Self.all
      baseIndex = frame.layer.baseIndex
      return true
    }
    let temporal = Int(frame.layer.temporal)
    if !frame.followsLoss, intact == Self.all {
      if temporal == 0 { baseIndex = frame.layer.baseIndex }
      return true
    }
    if frame.followsLoss { intact = -1 }
    guard let index = frame.layer.baseIndex, let base = baseIndex,
      index == (temporal == 0 ? base &+ 1 : base)
    else {
      (intact, baseIndex) = (-1, nil)
      return false
    }
    intact = max(intact, 0)
    if temporal == 0 { baseIndex = index }
    if frame.layer.refersToBase { intact = max(intact, temporal) }
    guard temporal <= intact else { return false }
    if frame.layer.opensAbove { intact = Self.all }
    return true
  }
}
