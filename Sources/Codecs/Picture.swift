/// A picture of eight bits a sample, with colours at half the resolution in both directions (I420).
///
/// All samples are in one array: brightness row by row, then blue, then red, each without gaps.
public struct Picture: Equatable, Sendable {
  /// Pixels; even.
  public let width: Int
  public let height: Int
  public var samples: [UInt8]

  /// Pixels of a side, at most: nothing larger is encoded or decoded here.
  public static let longestSide = 4_096

  /// Grey all over.
  /// - Throws: `size` for sides that are odd, below 16 or above `longestSide`.
  public init(width: Int, height: Int) throws(CodecError) {
    guard Self.isSide(width), Self.isSide(height) else { throw .size(width: width, height: height) }
    self.init(width: width, height: height, samples: Array(repeating: 128, count: width * height * 3 / 2))
  }

  init(width: Int, height: Int, samples: [UInt8]) {
    self.width = width
    self.height = height
    self.samples = samples
  }

  static func isSide(_ pixels: Int) -> Bool { pixels % 2 == 0 && (16...longestSide).contains(pixels) }

  /// Where the samples of brightness lie, and of both colours.
  public var luma: Range<Int> { 0..<width * height }
  public var blue: Range<Int> { luma.upperBound..<luma.upperBound + width * height / 4 }
  public var red: Range<Int> { blue.upperBound..<blue.upperBound + width * height / 4 }
}
