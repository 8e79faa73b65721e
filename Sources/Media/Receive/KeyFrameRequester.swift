public import Model

/// Asks a publisher for key frames (RFC 4585 §6.3.1), at most once an interval however many subscribers need
/// one, and again as long as none came.
public struct KeyFrameRequester: Sendable {
  /// A key frame costs a publisher many times an ordinary one.
  public static let interval = Duration.milliseconds(500)

  @usableFromInline var lastAsked = Self.never
  @usableFromInline var wanted = false
  /// Asked for in all.
  public private(set) var asked: UInt32 = 0

  private static let never = Instant(nanoseconds: -1_000_000_000_000)

  public init() {}

  @inlinable @inline(__always)
  public var deadline: Instant { wanted ? lastAsked + Self.interval : .never }

  /// A subscriber needs a key frame.
  public mutating func request() { wanted = true }

  /// What was asked for went where the publisher is no more: it may be asked again at once.
  public mutating func lost() { if wanted { lastAsked = Self.never } }

  /// The first packet of a key frame came.
  public mutating func arrived() {
    wanted = false
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.keyFrameFlood) { lastAsked = Self.never }
    #endif
  }

  /// - Returns: true when a request is to be sent now.
  public mutating func poll(now: Instant) -> Bool {
    guard wanted, now >= deadline else { return false }
    lastAsked = now
    asked &+= 1
    return true
  }

  public func encode(into writer: inout StateWriter) {
    writer.write(lastAsked)
    writer.write(wanted)
    writer.write(asked)
  }

  public init(from reader: inout StateReader) throws(StateError) {
    lastAsked = try reader.instant()
    wanted = try reader.bool()
    asked = try reader.integer()
  }
}
