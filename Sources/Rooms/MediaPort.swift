internal import Crypto
public import Engine
public import Model
public import Peer

/// The media plane as rooms reach it: the process's engine, or workers that somebody else turns.
///
/// Everything that differs from one run to the next comes in here, so that rooms in a simulation do the same every time.
public struct MediaPort: Sendable {
  public var workers: Int
  /// Of the certificate that every transport shows.
  public var fingerprint: Fingerprint
  public var epoch: Epoch
  /// The engine's clock.
  public var now: @Sendable () -> Instant
  /// A key for a new peer of that home.
  public var makeKey: @Sendable (_ home: Int) -> PeerKey
  public var post: @Sendable (Command) -> Void
  /// One element whenever `drainEvents` has something.
  public var eventsReady: AsyncStream<Void>
  public var drainEvents: @Sendable () -> [PeerEvents]
  public var levels: @Sendable () -> [(key: TrackKey, value: TrackLevel)]
  public var qualities: @Sendable () -> [(key: PeerKey, value: PeerQuality)]
  /// Whether each worker answers in time.
  public var isAnswering: @Sendable () async -> Bool
  /// What each worker knows of peers, and why they get what they get; nil of one that doesn't answer in time.
  public var explain: @Sendable (MediaQuestion, _ patience: Duration) async -> [WorkerExplanation?]
  /// What a peer's flight recorder has; nil: it isn't there, or its worker doesn't answer in time.
  public var recording: @Sendable (PeerKey, _ patience: Duration) async -> FlightRecording?
  /// A key frame of a track, the last that is kept or else the next; `asks`: for that the publisher is asked. nil: none came in time.
  public var keyFrame: @Sendable (TrackKey, _ asks: Bool, _ patience: Duration) async -> KeyFrame?
  /// Counters and table sizes by worker; nil of one that doesn't answer in time. Of workers that somebody else turns there are none.
  public var reports: @Sendable (_ patience: Duration) async -> [WorkerReport?] = { _ in [] }
  /// Waits; throws when the task is cancelled.
  public var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  /// Of ids, credentials and descriptions.
  public var random = RandomSource.system

  public init(
    workers: Int, fingerprint: Fingerprint, epoch: Epoch, now: @escaping @Sendable () -> Instant,
    makeKey: @escaping @Sendable (_ home: Int) -> PeerKey, bridge: Bridge, eventsReady: AsyncStream<Void>,
    isAnswering: @escaping @Sendable () async -> Bool
  ) {
    self.workers = workers
    self.fingerprint = fingerprint
    self.epoch = epoch
    self.now = now
    self.makeKey = makeKey
    post = { bridge.post($0) }
    self.eventsReady = eventsReady
    drainEvents = { bridge.drainEvents() }
    levels = { bridge.levels() }
    qualities = { bridge.qualities() }
    self.isAnswering = isAnswering
    let desk = ExplainDesk(bridge)
    explain = { await desk.explain($0, within: $1) }
    recording = { await desk.recording(of: $0, within: $1) }
    let pictures = KeyFrameDesk(bridge)
    keyFrame = { await pictures.keyFrame(of: $0, asks: $1, within: $2) }
  }

  public init(_ engine: MediaEngine) {
    self.init(
      workers: engine.workerCount, fingerprint: engine.certificate.fingerprint(.sha256),
      epoch: engine.clock.epoch, now: { engine.clock.now }, makeKey: { engine.makeKey(home: $0) },
      bridge: engine.bridge, eventsReady: engine.eventsReady,
      isAnswering: { await engine.reports(within: .seconds(1)).allSatisfy { $0 != nil } })
    reports = { await engine.reports(within: $0) }
  }
}
