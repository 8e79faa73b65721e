internal import Codecs

#if PLANTED_DEFECTS
  internal import Model
#endif

/// A moving picture that says which one it is: its publisher and its number stand in it as large black and white squares,
/// with a checksum, before a pattern that moves with the number.
///
/// The squares are as large as the macroblocks of VP8 and lie on their borders, so they are read whatever the quality. The
/// pattern shows what the squares can't: a picture that was put together from parts of others.
struct MarkedPicture: Equatable, Sendable {
  /// Of the process.
  var publisher: Int
  /// Counts its pictures from 0.
  var number: Int

  static let width = 320
  static let height = 180

  // MARK: The squares

  private static let square = 16
  private static let columns = 16
  /// Of the first square: a column and a row of pattern are left around.
  private static let left = 32
  private static let top = 16
  private static let black: UInt8 = 16
  private static let white: UInt8 = 235

  /// Publisher, number and checksum, the highest bit first.
  private var code: UInt64 {
    let said =
      UInt64(UInt16(truncatingIfNeeded: publisher)) << 32 | UInt64(UInt32(truncatingIfNeeded: number))
    return said << 16 | UInt64(Self.checksum(said))
  }

  /// CRC-16 of X.25 (polynomial 0x1021 reversed) over six bytes.
  private static func checksum(_ said: UInt64) -> UInt16 {
    var sum: UInt16 = 0xFFFF
    for shift in stride(from: 40, through: 0, by: -8) {
      sum ^= UInt16(said >> UInt64(shift) & 0xFF)
      for _ in 0..<8 { sum = sum & 1 == 0 ? sum >> 1 : sum >> 1 ^ 0x8408 }
    }
    return ~sum
  }

  /// Where the square of a bit begins.
  private static func place(_ bit: Int) -> (x: Int, y: Int) {
    (left + bit % columns * square, top + bit / columns * square)
  }

  // MARK: The pattern

  /// Slanting waves that move by three pixels from one picture to the next; of each publisher another slant.
  private func brightness(_ x: Int, _ y: Int) -> UInt8 {
    let slant = 1 + publisher & 3
    let phase = (x + slant * y + 3 * (number & 0xFFFF)) & 127
    return UInt8(64 + (phase < 64 ? phase : 127 - phase) * 2)
  }

  private var colours: (blue: UInt8, red: UInt8) {
    (UInt8(64 + publisher * 37 % 128), UInt8(64 + publisher * 53 % 128))
  }

  // MARK: Drawing and reading

  /// - Parameter picture: of `width` × `height`; every sample is written.
  func draw(into picture: inout Picture) {
    let code = code
    let (blue, red) = colours
    let (blues, reds) = (picture.blue, picture.red)
    picture.samples.withUnsafeMutableBufferPointer { samples in
      for y in 0..<Self.height {
        for x in 0..<Self.width { samples[y * Self.width + x] = brightness(x, y) }
      }
      for bit in 0..<64 {
        let (left, top) = Self.place(bit)
        let value = code >> UInt64(63 - bit) & 1 == 1 ? Self.white : Self.black
        for y in top..<top + Self.square {
          for x in left..<left + Self.square { samples[y * Self.width + x] = value }
        }
      }
      for index in blues { samples[index] = blue }
      for index in reds { samples[index] = red }
    }
  }

  /// What is wrong with a picture that was decoded.
  enum Fault: Error, Equatable, Sendable {
    case size(width: Int, height: Int)
    /// A square that is neither black nor white.
    case square(bit: Int, mean: Int)
    /// The squares say nothing that was ever drawn.
    case checksum
    /// The pattern or the colours are those of another picture: the mean difference, in steps of brightness.
    case pattern(Int)
  }

  /// Reads which picture it is, and compares the rest with that.
  init(reading picture: Picture) throws(Fault) {
    guard picture.width == Self.width, picture.height == Self.height else {
      throw .size(width: picture.width, height: picture.height)
    }
    var code: UInt64 = 0
    for bit in 0..<64 {
      let mean = Self.mean(picture, bit)
      guard !Self.unclear.contains(mean) else { throw .square(bit: bit, mean: mean) }
      code = code << 1 | (mean > Self.unclear.upperBound ? 1 : 0)
    }
    guard UInt16(truncatingIfNeeded: code) == Self.checksum(code >> 16) else { throw .checksum }
    self.init(
      publisher: Int(UInt16(truncatingIfNeeded: code >> 48)),
      number: Int(UInt32(truncatingIfNeeded: code >> 16)))
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.patternUnread) { return }
    #endif
    let difference = difference(from: picture)
    guard difference <= Self.tolerance else { throw .pattern(difference) }
  }

  init(publisher: Int, number: Int) {
    self.publisher = publisher
    self.number = number
  }

  private static let unclear = 90...160
  /// What libvpx takes from a picture of this kind at 250 kbit/s is 2 to 5; a pattern that is one picture old differs by 6.
  static let tolerance = 10

  /// Of the inner half of a square, away from its neighbours.
  private static func mean(_ picture: Picture, _ bit: Int) -> Int {
    let (left, top) = place(bit)
    var sum = 0
    for y in top + 4..<top + 12 {
      for x in left + 4..<left + 12 { sum += Int(picture.samples[y * width + x]) }
    }
    return sum / 64
  }

  /// The mean of the differences outside of the squares, and no less than that of either colour.
  private func difference(from picture: Picture) -> Int {
    var sum = 0
    var count = 0
    let lowest = Self.top + 64 / Self.columns * Self.square
    for y in stride(from: 0, to: Self.height, by: 2) {
      let isBeside = y < Self.top || y >= lowest
      for x in stride(from: 0, to: Self.width, by: 2)
      where isBeside || x < Self.left || x >= Self.left + Self.columns * Self.square {
        sum += abs(Int(picture.samples[y * Self.width + x]) - Int(brightness(x, y)))
        count += 1
      }
    }
    let (blue, red) = colours
    return max(
      sum / count, Self.distance(picture, picture.blue, blue), Self.distance(picture, picture.red, red))
  }

  private static func distance(_ picture: Picture, _ samples: Range<Int>, _ colour: UInt8) -> Int {
    picture.samples[samples].reduce(0) { $0 + abs(Int($1) - Int(colour)) } / samples.count
  }
}
