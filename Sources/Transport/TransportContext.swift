public import Crypto
public import ICE
public import Model

/// What transports of one worker share and what a call hands back: passed `inout` through every call.
public struct TransportContext: ~Copyable {
  public let dtls: DTLSContext
  public var random: RandomSource
  public var outbox: Outbox
  public var counters = TransportCounters()
  public var iceCounters = ICEDropCounters()
  /// From the first datagram of a handshake to its keys.
  public var handshakes = Histogram.durations
  public var events = TransportEvents()
  /// The last datagram of ICE or of the handshake was of use: one that a stranger made up is not.
  public var wasHeeded = false
  @usableFromInline var iceOutput = ICEOutput()

  public init(dtls: DTLSContext, random: RandomSource, outbox: consuming Outbox) {
    self.dtls = dtls
    self.random = random
    self.outbox = outbox
  }
}

/// Why a transport ended by itself.
public enum TransportEnd: UInt8, Sendable, CaseIterable {
  /// Nothing was heard on the selected path for the consent time (RFC 7675).
  case connectionLost
  /// Nothing came, or no handshake was finished, in the time given to a new transport.
  case neverConnected
  /// The handshake failed: wrong certificate, no common protection, alert.
  case handshakeFailed
}

/// What a call changed; the owner acts on it and clears it.
public struct TransportEvents: Sendable {
  /// How the path in use came to be another.
  public enum Selection: UInt8, Sendable {
    case unchanged
    /// There was none before.
    case first
    case changed
  }

  /// False while there is nothing to act on.
  public private(set) var isEmpty = true
  /// The handshake is done: media can be opened and sealed.
  public private(set) var connected: SRTPProfile?
  public private(set) var closed: TransportEnd?
  /// A path was validated, selected or lost.
  public private(set) var pathsChanged = false
  public private(set) var selection = Selection.unchanged
  /// The far end went on elsewhere before that was agreed on: for a while all that was sent went to where it was before.
  public private(set) var wasFollowed = false

  /// The far end has closed its end of DTLS.
  public private(set) var saidFarewell = false

  public init() {}

  public mutating func clear() { self = TransportEvents() }

  @usableFromInline mutating func noteConnected(_ profile: SRTPProfile) {
    connected = profile
    isEmpty = false
  }
  @usableFromInline mutating func noteClosed(_ reason: TransportEnd) {
    if closed == nil { closed = reason }
    isEmpty = false
  }
  @usableFromInline mutating func notePaths() {
    pathsChanged = true
    isEmpty = false
  }
  @usableFromInline mutating func noteSelection(isFirst: Bool) {
    selection = isFirst ? .first : .changed
    isEmpty = false
  }
  mutating func noteFarewell() {
    saidFarewell = true
    isEmpty = false
  }
  @usableFromInline mutating func noteFollowed() {
    wasFollowed = true
    isEmpty = false
  }
}
