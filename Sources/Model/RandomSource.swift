/// Where a machine's random numbers come from: the system's generator, or a seed that repeats them exactly.
///
/// State machines take it `inout`, so that a simulation is reproducible; keys come from Crypto instead.
public enum RandomSource: RandomNumberGenerator, Sendable {
  case system
  /// SplitMix64 (Steele, Lea, Flood 2014); for tests and simulation only.
  case seeded(state: UInt64)

  public mutating func next() -> UInt64 {
    switch self {
    case .system:
      var system = SystemRandomNumberGenerator()
      return system.next()
    case .seeded(var state):
      state &+= 0x9E37_79B9_7F4A_7C15
      self = .seeded(state: state)
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }

  /// Another source, which goes its own way from here; of a seed, one that follows from it.
  public mutating func split() -> RandomSource {
    switch self {
    case .system: .system
    case .seeded: .seeded(state: next())
    }
  }

  /// `count` characters of A–Z, a–z, 0–9: 5.95 bits each.
  public mutating func alphanumeric(_ count: Int) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    return String((0..<count).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &self)] })
  }
}
