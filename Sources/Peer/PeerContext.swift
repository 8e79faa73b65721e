public import Crypto
public import ICE
internal import Media
public import Model

/// What peers of one worker share and what a call hands back: passed `inout` through every call.
public struct PeerContext: ~Copyable {
  public let epoch: Epoch
  public let dtls: DTLSContext
  public var random: RandomSource
  /// Bits per second that a publisher is told to keep to where it adapts by nothing but a receiver's word.
  public let publisherMaxBitrate: UInt64
  public var outbox: Outbox
  public var counters = PeerCounters()
  public var iceCounters = ICEDropCounters()
  public var effects = PeerEffects()
  var iceOutput = ICEOutput()

  public init(
    epoch: Epoch, dtls: DTLSContext, random: RandomSource, publisherMaxBitrate: UInt64 = 3_000_000,
    outbox: consuming Outbox
  ) {
    self.publisherMaxBitrate = publisherMaxBitrate
    self.epoch = epoch
    self.dtls = dtls
    self.random = random
    self.outbox = outbox
  }
}

/// What a call changed that others must know of; the owner acts on it and clears it.
public struct PeerEffects: Sendable {
  /// Requests for retransmission, by slot; more than these in one compound are left for its next.
  public static let nackCapacity = 128
  public struct NACK: BitwiseCopyable, Sendable {
    public var slot: UInt16 = 0
    public var sequence: UInt16 = 0
  }

  /// False while there is nothing to act on: the one test on the hot path.
  @usableFromInline var dirty = false
  public private(set) var connected: SRTPProfile?
  public private(set) var closed: PeerCloseReason?
  /// A path was validated, selected or lost.
  public private(set) var pathsChanged = false
  /// `Peer.quality` was measured anew.
  public private(set) var qualityMeasured = false
  /// Receivers, by index, whose first packet came or whose codec changed; whose clock is known anew.
  public private(set) var started: InlineArray<16, UInt64> = InlineArray(repeating: 0)
  public private(set) var clocks: InlineArray<16, UInt64> = InlineArray(repeating: 0)
  /// Slots whose subscriber wishes for a key frame.
  public private(set) var wishes: InlineArray<16, UInt64> = InlineArray(repeating: 0)
  private var nacks: InlineArray<128, NACK> = InlineArray(repeating: NACK())
  public private(set) var nackCount = 0

  public init() {}

  @inlinable public var isEmpty: Bool { !dirty }
  public func nack(_ index: Int) -> NACK { nacks[index] }

  mutating func noteConnected(_ profile: SRTPProfile) {
    connected = profile
    dirty = true
  }
  mutating func noteClosed(_ reason: PeerCloseReason) {
    if closed == nil { closed = reason }
    dirty = true
  }
  mutating func notePaths() {
    pathsChanged = true
    dirty = true
  }
  mutating func noteQuality() {
    qualityMeasured = true
    dirty = true
  }
  mutating func noteStarted(_ receiver: Int) {
    started[receiver >> 6] |= 1 << UInt64(receiver & 63)
    dirty = true
  }
  mutating func noteClock(_ receiver: Int) {
    clocks[receiver >> 6] |= 1 << UInt64(receiver & 63)
    dirty = true
  }
  mutating func noteWish(_ slot: Int) {
    wishes[slot >> 6] |= 1 << UInt64(slot & 63)
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
    connected = nil
    closed = nil
    pathsChanged = false
    qualityMeasured = false
    started = InlineArray(repeating: 0)
    clocks = InlineArray(repeating: 0)
    wishes = InlineArray(repeating: 0)
    nackCount = 0
  }
}
