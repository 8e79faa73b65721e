public import Model

/// How good a picture is to be.
public enum PictureQuality: String, Word {
  case off, low, medium, high

  public static var definition: String? { "PictureQuality" }
  public static var summary: String {
    "Of a picture in several sizes: none, the smallest, one between, the best that there is."
  }
}

/// How a client shows a track, and so how good it wants to have it: fields of messages that say so.
public struct PictureWanted: Equatable, Sendable {
  /// nil: the best.
  public var quality: PictureQuality?
  /// Device pixels, and pictures a second; nil: as many as there are.
  public var maxWidth: Int?
  public var maxHeight: Int?
  public var maxFrameRate: Int?
  /// nil: 128.
  public var priority: Int?

  public init(
    quality: PictureQuality? = nil, maxWidth: Int? = nil, maxHeight: Int? = nil, maxFrameRate: Int? = nil,
    priority: Int? = nil
  ) {
    self.quality = quality
    self.maxWidth = maxWidth
    self.maxHeight = maxHeight
    self.maxFrameRate = maxFrameRate
    self.priority = priority
  }

  mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.word(Field("quality", "Absent: the best."), &quality)
    try coder.integer(Field("maxWidth", "Device pixels; absent: any."), &maxWidth, 1...16_384)
    try coder.integer(Field("maxHeight", "Device pixels; absent: any."), &maxHeight, 1...16_384)
    try coder.integer(Field("maxFrameRate", "A second; absent: any."), &maxFrameRate, 1...240)
    try coder.integer(
      Field("priority", "The higher is served first where not all can be; absent: 128."), &priority, 0...255)
  }

  /// As rooms and workers have it.
  public var preference: PicturePreference {
    var preference = PicturePreference()
    preference.quality =
      switch quality {
      case .off: .off
      case .low: .low
      case .medium: .medium
      case .high, nil: .high
      }
    preference.width = UInt16(clamping: maxWidth ?? 0)
    preference.height = UInt16(clamping: maxHeight ?? 0)
    preference.frameRate = UInt8(clamping: maxFrameRate ?? 0)
    preference.priority = UInt8(clamping: priority ?? 128)
    return preference
  }
}
