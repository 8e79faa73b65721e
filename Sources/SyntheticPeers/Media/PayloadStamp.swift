internal import Wire

/// What every media payload of a synthetic peer says about itself, so that its receiver can tell whose it
/// is and whether each byte is right.
///
/// On the wire: a magic number, the fields below, then bytes that follow from publisher and packet alone.
public struct PayloadStamp: Equatable, Sendable {
  public static let size = 24
  private static let magic: UInt32 = 0x526F_5374

  /// The publisher's number in the simulation.
  public var publisher: UInt32
  /// 0 audio, 1 video; further tracks count up.
  public var track: UInt8
  public var isKeyFrame: Bool
  public var isFrameStart: Bool
  public var isFrameEnd: Bool
  /// Counts the track's packets from 0, through restarts.
  public var packet: UInt32
  /// Counts the track's frames.
  public var frame: UInt32
  /// Bytes of stamp and filling.
  public var length: UInt16

  public init(
    publisher: UInt32, track: UInt8, packet: UInt32, frame: UInt32, length: UInt16, isKeyFrame: Bool = false,
    isFrameStart: Bool = true, isFrameEnd: Bool = true
  ) {
    self.publisher = publisher
    self.track = track
    self.packet = packet
    self.frame = frame
    self.length = length
    self.isKeyFrame = isKeyFrame
    self.isFrameStart = isFrameStart
    self.isFrameEnd = isFrameEnd
  }

  /// Appends stamp and filling: `length` bytes.
  package func write(to bytes: inout [UInt8]) {
    bytes.append(bigEndian: Self.magic)
    bytes.append(bigEndian: publisher)
    bytes.append(bigEndian: packet)
    bytes.append(bigEndian: frame)
    bytes.append(track)
    bytes.append((isKeyFrame ? 1 : 0) | (isFrameStart ? 2 : 0) | (isFrameEnd ? 4 : 0))
    bytes.append(bigEndian: length)
    bytes.append(bigEndian: ~packet)
    var filling = Filling(publisher: publisher, track: track, packet: packet)
    var left = Int(length) - Self.size
    while left >= 8 {
      bytes.append(bigEndian: filling.next())
      left -= 8
    }
    let last = filling.next()
    for index in 0..<max(left, 0) { bytes.append(UInt8(truncatingIfNeeded: last >> UInt64(8 * index))) }
  }

  /// Reads a stamp and compares all of the filling.
  /// - Returns: nil if any byte is wrong or missing.
  package init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.size, let base = bytes.baseAddress,
      base.loadBigEndian(at: 0, as: UInt32.self) == Self.magic
    else { return nil }
    publisher = base.loadBigEndian(at: 4, as: UInt32.self)
    packet = base.loadBigEndian(at: 8, as: UInt32.self)
    frame = base.loadBigEndian(at: 12, as: UInt32.self)
    track = base.byte(at: 16)
    let flags = base.byte(at: 17)
    isKeyFrame = flags & 1 != 0
    isFrameStart = flags & 2 != 0
    isFrameEnd = flags & 4 != 0
    length = base.loadBigEndian(at: 18, as: UInt16.self)
    guard base.loadBigEndian(at: 20, as: UInt32.self) == ~packet, bytes.count == Int(length) else {
      return nil
    }
    var filling = Filling(publisher: publisher, track: track, packet: packet)
    var offset = Self.size
    while offset + 8 <= bytes.count {
      guard base.loadBigEndian(at: offset, as: UInt64.self) == filling.next() else { return nil }
      offset += 8
    }
    let last = filling.next()
    for index in 0..<(bytes.count - offset)
    where base.byte(at: offset + index) != UInt8(truncatingIfNeeded: last >> UInt64(8 * index)) {
      return nil
    }
  }

  /// Words that nothing else produces by accident.
  private struct Filling {
    private var state: UInt64

    init(publisher: UInt32, track: UInt8, packet: UInt32) {
      state = (UInt64(publisher) << 32 ^ UInt64(track) << 56 ^ UInt64(packet)) &* 0x9E37_79B9_7F4A_7C15
    }

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      return (state ^ state >> 29) &* 0xBF58_476D_1CE4_E5B9
    }
  }
}

extension [UInt8] {
  package mutating func append<T: FixedWidthInteger>(bigEndian value: T) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }
}
