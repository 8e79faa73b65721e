internal import Media
internal import Model

/// Where a picture can be begun in what is kept: at the last key frame, if it is of the source's present
/// incarnation, and the track wasn't muted since.
struct PictureStart: BitwiseCopyable {
  /// A key frame is sent again with at most so much behind it: more is dearer than another key frame.
  static let mostPackets: Int64 = 512
  static let mostFrames = 120
  static let mostBytes = 512 * 1_024
  /// What a track's packets can be numbered by, far from where a difference would wrap.
  static let numbers: ClosedRange<Int64> = 0...1 << 62

  /// The last key frame's first packet, `.min` where none may be shown, and the highest number that came.
  private var keyFrame: Int64 = .min
  /// When the last key frame came, whether it may be shown or not.
  private(set) var keyFrameAt = Instant(nanoseconds: .min / 2)
  private var newest: Int64 = .min
  /// How often the source had started over, as of the newest packet, and the incarnation that is not shown again.
  private var incarnation: UInt8 = 0
  private var mutedIncarnation: UInt8?

  init() {}

  @inline(__always)
  mutating func note(_ info: PacketInfo) {
    if info.extendedSequence > newest {
      newest = info.extendedSequence
      if info.restart != incarnation { startOver(info.restart) }
    }
    if info.flags.contains(.keyFrame) && info.extendedSequence > keyFrame && info.restart == incarnation {
      keyFrame = info.extendedSequence
      keyFrameAt = info.arrival
    }
  }

  /// What came before belongs to another incarnation of the source: no picture begins there any more.
  @inline(never)
  private mutating func startOver(_ next: UInt8) {
    incarnation = next
    if mutedIncarnation != next { mutedIncarnation = nil }
    keyFrame = .min
  }

  /// The track is muted: a consumer that comes from now on sees nothing of what it showed before.
  /// - Parameter incarnation: of the source as it was muted; its packets may still be on their way here.
  mutating func mute(_ incarnation: UInt8) {
    mutedIncarnation = incarnation
    keyFrame = .min
  }

  /// A consumer that comes from now on begins with the next key frame.
  mutating func forget() { keyFrame = .min }

  /// When the last key frame came that may be shown.
  var lastKeyFrame: Instant? { keyFrame == .min ? nil : keyFrameAt }

  /// The number of the last key frame's first packet, if it may be shown.
  var first: Int64? { keyFrame == .min || incarnation == mutedIncarnation ? nil : keyFrame }

  /// The numbers from the last key frame on, if they are few enough to be sent at once.
  var range: ClosedRange<Int64>? {
    guard incarnation != mutedIncarnation, keyFrame != .min, keyFrame <= newest,
      newest &- keyFrame < Self.mostPackets
    else { return nil }
    return keyFrame...newest
  }
}

extension PictureStart {
  func encode(into writer: inout StateWriter) {
    writer.write(keyFrame)
    writer.write(keyFrameAt)
    writer.write(newest)
    writer.write(incarnation)
    writer.write(mutedIncarnation != nil)
    writer.write(mutedIncarnation ?? 0)
  }

  init(from reader: inout StateReader) throws(StateError) {
    let offset = reader.offset
    keyFrame = try reader.integer()
    keyFrameAt = try reader.instant()
    newest = try reader.integer()
    for number in [keyFrame, newest] where number != .min && !Self.numbers.contains(number) {
      throw .invalid(field: "a picture's numbers", offset: offset)
    }
    guard keyFrame <= newest else { throw .invalid(field: "a picture's numbers", offset: offset) }
    incarnation = try reader.integer()
    let isMuted = try reader.bool()
    let muted: UInt8 = try reader.integer()
    mutedIncarnation = isMuted ? muted : nil
  }
}
