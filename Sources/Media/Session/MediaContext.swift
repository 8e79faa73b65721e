public import Model

/// What sessions of one worker share and what a call hands back: passed `inout` through every call.
public struct MediaContext: ~Copyable {
  public let epoch: Epoch
  /// Bits per second that a publisher is asked to keep to where it adapts by nothing but a receiver's word.
  public let publisherMaxBitrate: UInt64
  /// What is sent keeps to what peers say in reports and estimates of their own, where they give no arrival times. False only where a
  /// simulation is about other things.
  public var heedsReports = true
  public var counters = MediaCounters()
  public var effects = MediaEffects()
  /// A slot was joined to a source, or to another encoding of it; the owner takes it back.
  public var hasJoined = false
  /// Compounds of RTCP on their way out, in plain text.
  public var output = CompoundOutput()
  /// Streams that came to belong to a track, or belong to none any more, in the order in which they did.
  public var streamChanges: [StreamChange] = []

  public init(epoch: Epoch, publisherMaxBitrate: UInt64) {
    self.epoch = epoch
    self.publisherMaxBitrate = publisherMaxBitrate
  }
}

/// What keeps replay windows keeps those of mapped streams first.
public struct StreamChange: Equatable, Sendable {
  public var ssrc: UInt32
  public var isMapped: Bool
}

/// What a call changed that others must know of; the owner acts on it and clears it.
public struct MediaEffects: Sendable {
  /// Requests for retransmission, by slot; more than these in one compound are left for its next.
  public static let nackCapacity = 128
  public struct NACK: BitwiseCopyable, Sendable {
    public var slot: UInt16 = 0
    public var sequence: UInt16 = 0
  }

  /// False while there is nothing to act on: the one test on the hot path.
  @usableFromInline var dirty = false
  /// The session's losses and round trip were measured again.
  public private(set) var qualityMeasured = false
  /// Tracks, by index, whose first packet came or whose codec changed; whose clock is known better.
  public private(set) var started: InlineArray<16, UInt64> = InlineArray(repeating: 0)
  public private(set) var clocks: InlineArray<16, UInt64> = InlineArray(repeating: 0)
  /// Slots whose subscriber asks for a key frame.
  public private(set) var keyFrameRequests: InlineArray<16, UInt64> = InlineArray(repeating: 0)
  private var nacks: InlineArray<128, NACK> = InlineArray(repeating: NACK())
  public private(set) var nackCount = 0

  public init() {}

  @inlinable @inline(__always) public var isEmpty: Bool { !dirty }
  public func nack(_ index: Int) -> NACK { nacks[index] }

  mutating func noteQuality() {
    qualityMeasured = true
    dirty = true
  }
  mutating func noteStarted(_ track: Int) {
    started[track >> 6] |= 1 << UInt64(track & 63)
    dirty = true
  }
  mutating func noteClock(_ track: Int) {
    clocks[track >> 6] |= 1 << UInt64(track & 63)
    dirty = true
  }
  mutating func noteKeyFrameRequest(_ slot: Int) {
    keyFrameRequests[slot >> 6] |= 1 << UInt64(slot & 63)
    dirty = true
  }
  mutating func noteNACK(_ slot: Int, _ sequence: UInt16) -> Bool {
    guard nackCount < Self.nackCapacity else { return false }
    nacks[nackCount] = NACK(slot: UInt16(truncatingIfNeeded: slot), sequence: sequence)
    nackCount &+= 1
    dirty = true
    return true
  }

  public mutating func clear() {
    guard dirty else { return }
    dirty = false
    qualityMeasured = false
    started = InlineArray(repeating: 0)
    clocks = InlineArray(repeating: 0)
    keyFrameRequests = InlineArray(repeating: 0)
    nackCount = 0
  }
}
