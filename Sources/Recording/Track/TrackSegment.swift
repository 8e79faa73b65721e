internal import Containers
public import Media
public import Model

/// A file that begins.
public struct SegmentStart: Equatable, Sendable {
  /// From 1.
  public var number: Int
  /// Nanoseconds from the recording's beginning: where the file's own times begin.
  public var start: Int64
  public var format: CodecFormat
  /// Of its name, without a dot.
  public var suffix: String
  /// Of the first picture, where it says so.
  public var size: PictureSize?
  /// Where the source's timestamps stood as it began; nil: nothing was known but when packets came.
  public var clock: ClockMapping?
}

/// A file that is whole.
public struct SegmentEnd: Equatable, Sendable {
  /// Nanoseconds from the file's beginning to the end of its last frame.
  public var duration: Int64
  public var frames: UInt64
  /// Milliseconds of sound that stand in for what didn't come, and of what there was no time for.
  public var filled: UInt64 = 0
  public var leftOut: UInt64 = 0
}

/// What became of a track's packets.
public struct TrackCounts: Equatable, Sendable {
  public var packetsLost: UInt64 = 0
  /// Of which some packets came.
  public var framesIncomplete: UInt64 = 0
  /// Whole ones that refer to what was lost.
  public var framesSkipped: UInt64 = 0
  /// From one encoding to another.
  public var switches: UInt64 = 0

  public init() {}
}

/// One file of a track, and where its frames lie in time.
struct TrackSegment: Sendable {
  private var file: SegmentFile
  private var sound = SoundTimeline()
  /// In nanoseconds from the recording's beginning.
  private let start: Int64
  private var last: Int64 = -1
  private var end: Int64 = 0
  private var frames: UInt64 = 0

  var codec: Codec { file.codec }
  var suffix: String { file.suffix }

  /// - Returns: nil of a codec that has no file.
  static func begin(
    _ track: MatroskaTrack, _ form: RecordingForm, start: Int64, serial: UInt32
  ) -> (TrackSegment, FileChange)? {
    var change = FileChange()
    guard let file = SegmentFile(track, form: form, serial: serial, into: &change) else { return nil }
    return (TrackSegment(file: file, start: start), change)
  }

  private init(file: SegmentFile, start: Int64) {
    self.file = file
    self.start = start
  }

  /// - Parameter time: in nanoseconds from the recording's beginning.
  mutating func add(_ frame: EncodedFrame, at time: Int64) -> FileChange {
    var change = FileChange()
    if codec.kind == .audio {
      add(sound: frame, at: time - start, into: &change)
    } else {
      add(picture: frame, at: max(0, time - start), into: &change)
    }
    return change
  }

  private mutating func add(picture frame: EncodedFrame, at time: Int64, into change: inout FileChange) {
    // A file that begins earlier shows its first picture from there.
    if frames == 0, time > Self.step { put(frame, at: 0, into: &change) }
    // Pictures are shown one after the other, also where a clock was corrected.
    put(frame, at: max(time, last + Self.step), into: &change)
  }
  private static let step: Int64 = 1_000_000

  private mutating func put(_ frame: EncodedFrame, at time: Int64, into change: inout FileChange) {
    file.add(frame.bytes, nanoseconds: time, isKeyFrame: frame.isKeyFrame, into: &change)
    last = time
    end = max(end, time)
    frames &+= 1
  }

  private mutating func add(sound frame: EncodedFrame, at time: Int64, into change: inout FileChange) {
    let rate = Int64(codec.clockRate)
    let (seconds, rest) = time.quotientAndRemainder(dividingBy: 1_000_000_000)
    let position = seconds * rate + rest * rate / 1_000_000_000
    for entry in sound.place(frame, at: position, countsSamples: file.countsSamples) {
      let (seconds, rest) = entry.position.quotientAndRemainder(dividingBy: rate)
      let begins = max(seconds * 1_000_000_000 + rest * 1_000_000_000 / rate, last)
      file.add(entry.bytes, nanoseconds: begins, samples: entry.samples, isKeyFrame: true, into: &change)
      last = begins
      end = max(end, begins + Int64(entry.samples) * 1_000_000_000 / rate)
      frames &+= 1
    }
  }

  mutating func finish() -> (FileChange, SegmentEnd) {
    var change = FileChange()
    file.finish(into: &change)
    let unit = UInt64(codec.clockRate) / 1_000
    return (
      change,
      SegmentEnd(duration: end, frames: frames, filled: sound.filled / unit, leftOut: sound.leftOut / unit)
    )
  }
}
