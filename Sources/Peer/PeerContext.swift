public import Crypto
public import Media
public import Model
public import Transport

/// What peers of one worker share and what a call hands back: passed `inout` through every call.
public struct PeerContext: ~Copyable {
  public var transport: TransportContext
  public var media: MediaContext
  /// What happened to a peer's transport.
  public var effects = PeerEffects()
  /// What the flight recorders of all peers may take.
  public let flight = FlightMemory()

  /// - Parameter publisherMaxBitrate: bits per second that a publisher is asked to keep to where it adapts by nothing
  ///   but a receiver's word.
  public init(
    epoch: Epoch, dtls: DTLSContext, random: RandomSource, publisherMaxBitrate: UInt64 = 3_000_000,
    outbox: consuming Outbox
  ) {
    transport = TransportContext(dtls: dtls, random: random, outbox: outbox)
    media = MediaContext(epoch: epoch, publisherMaxBitrate: publisherMaxBitrate)
  }

  /// See `MediaContext`.
  public var heedsReports: Bool {
    get { media.heedsReports }
    set { media.heedsReports = newValue }
  }

  public var counters: PeerCounters {
    PeerCounters(transport: transport.counters, media: media.counters)
  }

  /// Whether a call changed what others must know of: the one test on the hot path.
  @inlinable @inline(__always)
  public var hasEffects: Bool { effects.isSet || !media.effects.isEmpty }

  /// What calls changed since the last time, for the owner to act on.
  public mutating func takeEffects() -> (peer: PeerEffects, media: MediaEffects) {
    defer {
      effects = PeerEffects()
      media.effects.clear()
    }
    return (effects, media.effects)
  }
}

/// What happened to a peer's transport in a call; what happened to its media is in `MediaEffects`.
public struct PeerEffects: Sendable {
  @usableFromInline var isSet = false
  public private(set) var connected: SRTPProfile?
  public private(set) var closed: PeerCloseReason?
  /// A path was validated, selected or lost.
  public private(set) var pathsChanged = false
  /// The far end has closed its end of DTLS.
  public private(set) var saidFarewell = false

  public init() {}

  mutating func note(_ events: TransportEvents) {
    isSet = true
    if let profile = events.connected { connected = profile }
    if closed == nil { closed = events.closed.map { PeerCloseReason($0) } }
    pathsChanged = pathsChanged || events.pathsChanged
    saidFarewell = saidFarewell || events.saidFarewell
  }
}
