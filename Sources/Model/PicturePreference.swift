/// How a subscriber shows a picture, and so how good it wants to have it.
public struct PicturePreference: BitwiseCopyable, Equatable, Sendable {
  public enum Quality: UInt8, BitwiseCopyable, Sendable, CaseIterable {
    case off, low, medium, high
  }

  public var quality = Quality.high
  /// Device pixels, and pictures a second; 0: as many as there are.
  public var width: UInt16 = 0
  public var height: UInt16 = 0
  public var frameRate: UInt8 = 0
  /// Where not all can be good, the higher goes first.
  public var priority: UInt8 = 128

  public init() {}

  /// Whether in some respect it asks for more than another did.
  public func asksForMore(than other: Self) -> Bool {
    // 0 is as much as there is.
    let exceeds = { (new: Int, old: Int) in old != 0 && (new == 0 || new > old) }
    return quality.rawValue > other.quality.rawValue || exceeds(Int(width), Int(other.width))
      || exceeds(Int(height), Int(other.height)) || exceeds(Int(frameRate), Int(other.frameRate))
  }

  public func encode(into writer: inout StateWriter) {
    writer.write(quality.rawValue)
    writer.write(width)
    writer.write(height)
    writer.write(frameRate)
    writer.write(priority)
  }

  public init(from reader: inout StateReader) throws(StateError) {
    self.init()
    let offset = reader.offset
    guard let quality = Quality(rawValue: try reader.integer()) else {
      throw .invalid(field: "quality of a picture", offset: offset)
    }
    self.quality = quality
    width = try reader.integer()
    height = try reader.integer()
    frameRate = try reader.integer()
    priority = try reader.integer()
  }
}
