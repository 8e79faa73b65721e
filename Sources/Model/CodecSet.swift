/// A set of formats.
public struct CodecSet: Equatable, Sendable {
  /// A bit for each format, at its number.
  public var rawValue: UInt32

  public init(rawValue: UInt32) { self.rawValue = rawValue }

  public static var all: CodecSet { CodecSet(rawValue: .max) }

  /// What a section can be given that names these: each of them, and what it contains.
  public init<Formats: Sequence>(takenBy formats: Formats) where Formats.Element == CodecFormat {
    rawValue = formats.reduce(0) { $0 | Self.taken[Int($1.rawValue)] }
  }

  public func contains(_ format: CodecFormat) -> Bool { rawValue & 1 << format.rawValue != 0 }

  public func intersection(_ other: CodecSet) -> CodecSet { CodecSet(rawValue: rawValue & other.rawValue) }

  public func union(_ other: CodecSet) -> CodecSet { CodecSet(rawValue: rawValue | other.rawValue) }

  /// What all of these have, or where that is nothing, what most have.
  public init(takenByMost sets: [CodecSet]) {
    let common = sets.reduce(CodecSet.all) { $0.intersection($1) }
    self = common
    guard common.rawValue == 0 else { return }
    let counts = (0..<UInt32(UInt32.bitWidth)).map { bit in sets.count { $0.rawValue & 1 << bit != 0 } }
    let most = counts.max() ?? 0
    for (bit, count) in counts.enumerated() where count == most && count > 0 { rawValue |= 1 << UInt32(bit) }
  }

  /// By format: those that it takes.
  private static let taken: [UInt32] = (0..<UInt8(CodecFormat.limit)).map { number in
    guard let format = CodecFormat(rawValue: number) else { return 0 }
    return (0..<UInt8(CodecFormat.limit)).reduce(0) { set, other in
      CodecFormat(rawValue: other).map { format.takes($0) } == true ? set | 1 << UInt32(other) : set
    }
  }
}
