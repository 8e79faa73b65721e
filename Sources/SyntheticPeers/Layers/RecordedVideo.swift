/// A clip of VP8 that was encoded before, played over and over.
///
/// It is read from an IVF file: a header of 32 bytes, then each picture behind its length and its time, all little-endian.
public struct RecordedVideo: Sendable, Equatable {
  /// Why a file can't be played.
  public enum Problem: Error, Equatable {
    case notIVF
    /// Another codec's four characters.
    case notVP8
    /// It ends within a picture, or has none.
    case truncated
    case tooLarge
    /// A clip is joined at its first picture.
    case beginsWithoutKeyFrame
  }

  /// Pixels.
  public let width: UInt16
  public let height: UInt16
  /// Nanoseconds from one picture to the next.
  public let interval: Int64
  let pictures: [ArraySlice<UInt8>]

  /// Bytes of a file.
  public static let byteLimit = 64 << 20
  private static let headerSize = 32
  private static let pictureHeaderSize = 12

  /// - Parameter ivf: a whole file, of at most `byteLimit` bytes.
  public init(ivf bytes: [UInt8]) throws(Problem) {
    guard bytes.count <= Self.byteLimit else { throw .tooLarge }
    guard bytes.count >= Self.headerSize, bytes[..<4].elementsEqual("DKIF".utf8) else { throw .notIVF }
    guard bytes[8..<12].elementsEqual("VP80".utf8) else { throw .notVP8 }
    let begin = Int(Self.number(bytes[6..<8]))
    guard begin >= Self.headerSize else { throw .notIVF }
    width = UInt16(Self.number(bytes[12..<14]))
    height = UInt16(Self.number(bytes[14..<16]))
    // The time base of the file: pictures in so many seconds.
    let (rate, scale) = (Int64(Self.number(bytes[16..<20])), Int64(Self.number(bytes[20..<24])))
    guard rate > 0, scale > 0, rate / scale <= 240 else { throw .notIVF }
    interval = scale * 1_000_000_000 / rate
    guard interval <= 1_000_000_000 else { throw .notIVF }

    var found: [ArraySlice<UInt8>] = []
    var place = begin
    while place < bytes.count {
      let start = place + Self.pictureHeaderSize
      guard start <= bytes.count else { throw .truncated }
      let size = Int(Self.number(bytes[place..<place + 4]))
      guard size > 0, size <= bytes.count - start else { throw .truncated }
      found.append(bytes[start..<start + size])
      place = start + size
    }
    guard let first = found.first else { throw .truncated }
    guard Self.isKey(first) else { throw .beginsWithoutKeyFrame }
    pictures = found
  }

  /// The inverse of the first bit (RFC 6386 §9.1).
  static func isKey(_ picture: ArraySlice<UInt8>) -> Bool { picture.first.map { $0 & 1 == 0 } ?? false }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}
