internal import CSystem
internal import Glibc
public import Logging
public import Model
public import Peer
internal import Polling
internal import Synchronization

/// What a session's flight recorder had as it failed, to be written.
public struct FailedFlight: Sendable {
  public var recording: FlightRecording
  public var reason: PeerCloseReason
  /// Whose it was; empty where that isn't known any more.
  public var room: String
  public var identity: String
  /// Names its transport among all that the server ever has.
  public var name: String
  /// For those who read the file.
  public var title: String

  public init(
    _ recording: FlightRecording, _ reason: PeerCloseReason, room: String, identity: String, name: String,
    title: String
  ) {
    self.recording = recording
    self.reason = reason
    self.room = room
    self.identity = identity
    self.name = name
    self.title = title
  }
}

/// Writes the records of sessions that failed, on a thread of its own: neither a worker nor the control plane waits for a disk.
public final class FlightFiles: Sendable {
  public struct Counts: Equatable, Sendable {
    public var written: UInt64 = 0
    /// They could not be written.
    public var failed: UInt64 = 0
    /// Too many sessions failed at once.
    public var skipped: UInt64 = 0
    /// In the directory now.
    public var files = 0
    public var bytes = 0

    public init() {}
  }

  private let directory: FlightDirectory
  private let bridge: Bridge
  private let outlet: FlightOutlet
  private let epoch: Epoch
  private let log: Log
  private let wakeup = Wakeup()
  private let mailbox: Mailbox<FailedFlight>
  private let stopping = Atomic<Bool>(false)
  private let thread = Mutex<pthread_t?>(nil)
  private let tally = Mutex(Counts())
  /// Whether the last one could not be written.
  private let isFailing = Atomic<Bool>(false)

  /// Takes over the directory's files of an earlier process.
  /// - Parameters:
  ///   - files: at most so many are kept; those of the room that has the most make room.
  ///   - bytes: that they have together at most.
  public init(
    directory: String, files: Int, bytes: Int, bridge: Bridge, epoch: Epoch, log: Log
  ) throws(SocketError) {
    self.directory = FlightDirectory(directory, files: files, bytes: bytes)
    self.bridge = bridge
    outlet = bridge.flights
    self.epoch = epoch
    self.log = log
    mailbox = Mailbox(limit: FlightOutlet.limit, wake: { [wakeup] in wakeup.signal() })
    let (kept, size) = self.directory.kept
    tally.withLock { ($0.files, $0.bytes) = (kept, size) }
    if let problem = self.directory.problem() { warn(problem) }
    var handle = pthread_t()
    let context = Unmanaged.passRetained(self).toOpaque()
    let code = pthread_create(&handle, nil, flightMain, context)
    guard code == 0 else {
      Unmanaged<FlightFiles>.fromOpaque(context).release()
      throw SocketError("pthread_create", code: code)
    }
    let started = handle
    thread.withLock { $0 = started }
    outlet.open()
  }

  public var counts: Counts {
    var counts = tally.withLock { $0 }
    counts.skipped = outlet.skipped
    return counts
  }

  /// Has it written; soon, and not before this returns.
  public func write(_ flight: FailedFlight) {
    // Bounded by the outlet; refused once the thread is about to end.
    if !mailbox.post(flight, force: true) { outlet.give() }
  }

  /// Has the record of a peer written whose session was lost: of a peer that is about to be closed for that, so this comes before.
  /// - Parameters:
  ///   - room: whose it was, and likewise `identity`.
  ///   - name: names its transport among all that the server ever has.
  ///   - title: for those who read the file.
  public func keep(_ peer: PeerKey, room: String, identity: String, name: String, title: String) {
    guard outlet.take() else { return }
    let home = min(peer.home, bridge.workerCount - 1)
    let isAsked = bridge.recording(of: peer, home: home) { [self] recording in
      // On the worker's thread. Of one that never sent any packet there is nothing to see.
      guard let recording, !recording.isEmpty else { return outlet.give() }
      write(
        FailedFlight(
          recording, .connectionLost, room: room, identity: identity, name: name, title: title))
    }
    if !isAsked { outlet.give() }
  }

  /// Writes what waits, and ends.
  public func stop() {
    stopping.store(true, ordering: .sequentiallyConsistent)
    wakeup.signal()
    if let handle = thread.withLock({ $0.take() }) { pthread_join(handle, nil) }
  }

  fileprivate func loop() {
    rs_setname(pthread_self(), "roost-flights")
    while !stopping.load(ordering: .sequentiallyConsistent) {
      wakeup.wait(atMost: .seconds(60))
      for flight in mailbox.take() { keep(flight) }
    }
    for flight in mailbox.close() { keep(flight) }
  }

  private func keep(_ flight: FailedFlight) {
    defer { outlet.give() }
    let name = FlightName(
      at: WallTime(epoch.ntp(at: flight.recording.takenAt)), room: flight.room, identity: flight.identity,
      flight.name, reason: flight.reason.rawValue)
    let problem = directory.write(flight.recording.capture(title: flight.title, epoch: epoch), as: name.text)
    let (files, bytes) = directory.kept
    tally.withLock {
      if problem == nil { $0.written += 1 } else { $0.failed += 1 }
      ($0.files, $0.bytes) = (files, bytes)
    }
    if let problem { warn(problem) } else { isFailing.store(false, ordering: .relaxed) }
  }

  /// Said once, until one can be written again.
  private func warn(_ problem: String) {
    guard !isFailing.exchange(true, ordering: .relaxed) else { return }
    log.warning("flight recorders of failed sessions can't be written", ["reason": problem])
  }
}

/// Apart from any actor: C calls it on the new thread.
private func flightMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  Unmanaged<FlightFiles>.fromOpaque(context).takeRetainedValue().loop()
  return nil
}
