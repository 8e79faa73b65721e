#if PLANTED_DEFECTS
  public import Model
#endif

/// The 48-bit packet index of SRTP: rollover counter and sequence number (RFC 3711 §3.3.1).
public enum RTPIndex {
  /// Indices are below this.
  public static let limit: UInt64 = 1 << 48

  /// The index nearest to `highest` whose low 16 bits are `sequence`; never below zero.
  /// - Parameter highest: the highest index authenticated so far.
  @inlinable public static func estimate(sequence: UInt16, highest: UInt64) -> UInt64 {
    // The distance as a signed 16-bit number is the RFC's comparison with ± 2^15, except at exactly 2^15,
    // where the RFC takes the same rollover counter.
    let here = UInt16(truncatingIfNeeded: highest)
    let distance = Int64(Int16(bitPattern: sequence &- here))
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.halfWay), distance == -0x8000 { return highest &- 0x8000 }
    #endif
    if distance == -0x8000 { return highest & ~0xFFFF | UInt64(sequence) }
    let estimate = Int64(bitPattern: highest) &+ distance
    // Before the first rollover there is no earlier counter: the sequence number is the index.
    return estimate < 0 ? UInt64(sequence) : UInt64(bitPattern: estimate)
  }
}
