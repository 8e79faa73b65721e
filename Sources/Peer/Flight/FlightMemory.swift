internal import Model

/// What the flight recorders of one worker's peers take together. Each has its share in blocks: where there are more recorders the
/// share is less, and those that have more give it back when they next fill a block. So the biggest give way, and what is
/// lost is what is oldest.
///
/// Belongs to one worker.
public final class FlightMemory {
  /// Bytes of a block, and of one recorder at most.
  public static let blockSize = 8 * 1_024
  public static let mostOfRecorder = 512 * 1_024
  /// Of all recorders together.
  public static let usual = 64 * 1_024 * 1_024

  let limit: Int
  /// Bytes.
  @exclusivity(unchecked) public private(set) var used = 0
  /// Those that have recorded something, or would have if there had been room.
  @exclusivity(unchecked) public private(set) var recorders = 0

  public init(limit: Int = FlightMemory.usual) { self.limit = limit }

  /// Blocks that each recorder may have at present.
  var share: Int {
    min(max(limit / max(recorders, 1), Self.blockSize), Self.mostOfRecorder) / Self.blockSize
  }

  /// A recorder comes that has no block yet: from now on the others leave it its share.
  func join() { recorders += 1 }
  func leave() { recorders -= 1 }

  /// - Returns: nil where there is no room for one more.
  func take() -> UnsafeMutableRawPointer? {
    #if PLANTED_DEFECTS
      let isFree = PlantedDefect.isOn(.flightUnbounded) || used + Self.blockSize <= limit
    #else
      let isFree = used + Self.blockSize <= limit
    #endif
    guard isFree else { return nil }
    used += Self.blockSize
    return .allocate(byteCount: Self.blockSize, alignment: 64)
  }

  func give(_ block: UnsafeMutableRawPointer) {
    used -= Self.blockSize
    block.deallocate()
  }
}
