/// Which packet of the transport a stream's number names, for feedback that knows no transport-wide numbers (RFC 8888).
///
/// 8,192 names in buckets of four: the oldest of a bucket goes where it is full. 128 KiB, taken with the first name, so that who
/// needs none pays nothing.
struct StreamNames: ~Copyable {
  private struct Name: BitwiseCopyable {
    /// Negative: there is none.
    var number: Int64 = -1
    var ssrc: UInt32 = 0
    var sequence: UInt16 = 0
  }

  private static let ways = 4
  private static let buckets = 2_048

  private var names: UnsafeMutablePointer<Name>?

  init() {}

  deinit { names?.deallocate() }

  mutating func insert(_ number: Int64, ssrc: UInt32, sequence: UInt16) {
    if names == nil {
      names = .allocate(capacity: Self.buckets * Self.ways)
      names!.initialize(repeating: Name(), count: Self.buckets * Self.ways)
    }
    let bucket = names! + Self.bucket(ssrc, sequence)
    var place = 0
    for way in 0..<Self.ways {
      // A name that is used again means what was sent last.
      if bucket[way].ssrc == ssrc, bucket[way].sequence == sequence {
        place = way
        break
      }
      if bucket[way].number < bucket[place].number { place = way }
    }
    bucket[place] = Name(number: number, ssrc: ssrc, sequence: sequence)
  }

  func find(ssrc: UInt32, sequence: UInt16) -> Int64? {
    guard let names else { return nil }
    let bucket = names + Self.bucket(ssrc, sequence)
    for way in 0..<Self.ways
    where bucket[way].ssrc == ssrc && bucket[way].sequence == sequence && bucket[way].number >= 0 {
      return bucket[way].number
    }
    return nil
  }

  /// Numbers that follow each other lie in buckets that do.
  private static func bucket(_ ssrc: UInt32, _ sequence: UInt16) -> Int {
    ways &* (Int(truncatingIfNeeded: (ssrc &* 0x9E37_79B1) >> 16 &+ UInt32(sequence)) & (buckets - 1))
  }
}
