internal import CSystem
public import Engine
internal import Glibc
public import Logging
public import Model
internal import Polling
internal import Synchronization

/// Records tracks of rooms into files, on a thread of its own: workers leave packets in rings and never wait, and where a disk is slow
/// a ring that is full drops and counts.
///
/// Rooms say by commands what is recorded; what they may, they know. A recording that ends by itself, because of its size or of the
/// disk, is said by `ended`.
public final class RecordingStudio: Sendable {
  /// How often rings are emptied.
  static let turn = Duration.milliseconds(50)
  /// Bytes that a recording needs to begin.
  static let least = 1_024 * 1_024

  public struct Counts: Equatable, Sendable {
    /// That run.
    public var active = 0
    public var kept = 0
    /// By the reason.
    public var ended: [RecordingEndReason: UInt64] = [:]
    /// Bytes of those that run.
    public var bytes = 0

    public init() {}
  }

  /// Why a recording doesn't begin or isn't erased.
  public enum Refusal: Error, Equatable, Sendable {
    /// So many run.
    case full(atOnce: Int)
    /// So many are kept.
    case tooMany(kept: Int)
    /// Less space is free than has to stay free.
    case noSpace
    case isActive
    case unknown
    /// As the system says it.
    case storage(String)
  }

  public let limits: RecordingLimits
  private let path: String
  private let library: RecordingLibrary
  private let bridge: Bridge
  private let clock: @Sendable () -> Instant
  private let epoch: Epoch
  private let log: Log
  private let wakeup = Wakeup()
  private let mailbox: Mailbox<RecordingCommand>
  private let stopping = Atomic<Bool>(false)
  private let thread = Mutex<pthread_t?>(nil)
  private let tally = Mutex(Counts())
  private let endings: AsyncStream<RecordingEnd>.Continuation

  /// Recordings that ended by themselves.
  public let ended: AsyncStream<RecordingEnd>

  /// Takes over what is in the directory, and closes what an earlier process left open.
  /// - Parameters:
  ///   - directory: in which each recording gets a folder; made where it isn't there.
  ///   - clock: the engine's.
  /// - Throws: where there is no thread for it.
  public init(
    directory: String, limits: RecordingLimits, bridge: Bridge, clock: @escaping @Sendable () -> Instant,
    epoch: Epoch, log: Log
  ) throws(Refusal) {
    path = directory
    self.limits = limits
    self.bridge = bridge
    self.clock = clock
    self.epoch = epoch
    self.log = log
    do throws(FileProblem) { try RecordingFolder(directory).make() } catch {
      log.error("the directory of recordings can't be made", ["path": directory, "reason": error.text])
    }
    library = RecordingLibrary(directory, time: WallTime(epoch.ntp(at: clock())).text, log: log)
    // Bounded by the rooms: each command is of a track or a recording of theirs.
    mailbox = Mailbox(limit: .max, wake: { [wakeup] in wakeup.signal() })
    (ended, endings) = AsyncStream.makeStream(of: RecordingEnd.self)
    var handle = pthread_t()
    let context = Unmanaged.passRetained(self).toOpaque()
    let code = pthread_create(&handle, nil, studioMain, context)
    guard code == 0 else {
      Unmanaged<RecordingStudio>.fromOpaque(context).release()
      throw .storage("no thread can be made: \(FileProblem(code).text)")
    }
    let started = handle
    thread.withLock { $0 = started }
  }

  public var counts: Counts {
    var counts = tally.withLock { $0 }
    counts.kept = library.count
    return counts
  }

  // MARK: - What rooms and doors ask

  /// Keeps a place for a recording; `begin` follows, or `giveBack`.
  public func reserve() throws(Refusal) {
    if library.count >= limits.kept { throw .tooMany(kept: limits.kept) }
    // One that would end with its first second doesn't begin.
    if let free = RecordingFolder(path).free, free - Self.least < limits.free { throw .noSpace }
    let isTaken = tally.withLock { tally in
      guard tally.active < limits.atOnce else { return false }
      tally.active += 1
      return true
    }
    if !isTaken { throw .full(atOnce: limits.atOnce) }
  }

  public func giveBack() { tally.withLock { $0.active -= 1 } }

  /// Has it done; soon, and not before this returns. One that begins is in the list at once.
  public func perform(_ command: RecordingCommand) {
    if case .begin(let id, let room, let moment, _) = command {
      library.put(manifest(id, room, moment))
    }
    mailbox.post(command, force: true)
  }

  private func manifest(_ id: String, _ room: (name: String, id: String), _ at: Instant) -> RecordingManifest
  {
    RecordingManifest(
      id: id, room: room.name, roomId: room.id, startedAt: WallTime(epoch.ntp(at: at)).text)
  }

  /// Of a room, by its name, in the order in which they began.
  /// - Parameter after: the id of one of them.
  public func recordings(of room: String, after: String?, limit: Int) -> [RecordingManifest] {
    library.list(room, after: after, limit: limit)
  }

  /// - Returns: nil where that room has had no such recording.
  public func recording(_ id: String, of room: String) -> RecordingManifest? {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.recordingOfAnyRoom) { return library[id] }
    #endif
    return library[id].flatMap { $0.room.utf8.elementsEqual(room.utf8) ? $0 : nil }
  }

  /// Those of a room, by its id, that an earlier process left open.
  public func leftOpen(of room: String) -> [String] {
    library.leftOpen.filter { $0.roomId == room }.map(\.id)
  }

  /// Removes a recording that has ended, with its files.
  public func erase(_ id: String, of room: String) throws(Refusal) {
    guard let manifest = recording(id, of: room) else { throw .unknown }
    guard manifest.state == .ended else { throw .isActive }
    do throws(FileProblem) { try library.erase(manifest) } catch { throw .storage(error.text) }
    log.info("recording erased", ["id": id, "room": room])
  }

  /// Ends every recording, and returns when their files are whole.
  public func stop() {
    stopping.store(true, ordering: .sequentiallyConsistent)
    wakeup.signal()
    if let handle = thread.withLock({ $0.take() }) { pthread_join(handle, nil) }
    endings.finish()
  }

  // MARK: - The thread

  fileprivate func loop() {
    rs_setname(pthread_self(), "roost-recorder")
    var sessions: [String: RecordingSession] = [:]
    while !stopping.load(ordering: .sequentiallyConsistent) {
      wakeup.wait(atMost: sessions.isEmpty ? .seconds(60) : Self.turn)
      for command in mailbox.take() { run(command, &sessions) }
      for id in sessions.keys.sorted() { work(id, &sessions) }
      let bytes = sessions.values.reduce(0) { $0 + $1.bytes }
      tally.withLock { $0.bytes = bytes }
    }
    for command in mailbox.close() { run(command, &sessions) }
    for id in sessions.keys.sorted() { finish(id, .serverShutdown, &sessions) }
  }

  private func run(_ command: RecordingCommand, _ sessions: inout [String: RecordingSession]) {
    let now = clock()
    switch command {
    case .begin(let id, let room, let moment, let most):
      begin(id, manifest(id, room, moment), at: moment, most: most, &sessions)
    case .add(let track, let id):
      guard let key = track.key else { break }
      let supply = SinkSupply(key, track, bridge: bridge)
      attempt(id, &sessions) { session throws(FileProblem) in session.add(track, from: supply, now: now) }
    case .end(let track, let id):
      attempt(id, &sessions) { session throws(FileProblem) in try session.end(track, now: now) }
    case .stop(let id, let reason): finish(id, reason, &sessions)
    }
  }

  private func begin(
    _ id: String, _ manifest: RecordingManifest, at moment: Instant, most: Int?,
    _ sessions: inout [String: RecordingSession]
  ) {
    let terms = TrackRecorder.Terms(epoch: epoch, zero: epoch.ntp(at: moment))
    do throws(FileProblem) {
      sessions[id] = try RecordingSession(
        manifest, folder: RecordingFolder("\(path)/\(id)"), terms: terms,
        most: min(most ?? .max, limits.bytes),
        free: limits.free, now: clock())
      log.info("recording began", ["id": id, "room": manifest.room])
    } catch {
      log.error("a recording can't begin", ["id": id, "room": manifest.room, "reason": error.text])
      var failed = manifest
      (failed.state, failed.reason, failed.endedAt) = (
        .ended, error.isFull ? .diskFull : .storageFailed, failed.startedAt
      )
      library.put(failed)
      note(failed)
      endings.yield(RecordingEnd(id: id, room: failed.room, reason: failed.reason ?? .storageFailed))
    }
  }

  private func attempt(
    _ id: String, _ sessions: inout [String: RecordingSession],
    _ body: (inout RecordingSession) throws(FileProblem) -> Void
  ) {
    guard var session = sessions.removeValue(forKey: id) else { return }
    do throws(FileProblem) {
      try body(&session)
      sessions[id] = session
      library.put(session.manifest)
    } catch {
      sessions[id] = session
      endByItself(id, error.isFull ? .diskFull : .storageFailed, &sessions)
    }
  }

  private func work(_ id: String, _ sessions: inout [String: RecordingSession]) {
    guard var session = sessions.removeValue(forKey: id) else { return }
    let reason = session.work(now: clock())
    let manifest = session.manifest
    sessions[id] = session
    if library[id] != manifest { library.put(manifest) }
    if let reason { endByItself(id, reason, &sessions) }
  }

  private func endByItself(
    _ id: String, _ reason: RecordingEndReason, _ sessions: inout [String: RecordingSession]
  ) {
    guard let room = sessions[id]?.manifest.room else { return }
    finish(id, reason, &sessions)
    endings.yield(RecordingEnd(id: id, room: room, reason: reason))
  }

  private func finish(
    _ id: String, _ reason: RecordingEndReason, _ sessions: inout [String: RecordingSession]
  ) {
    guard var session = sessions.removeValue(forKey: id) else { return }
    let now = clock()
    let problem = session.finish(reason, at: now, now: now)
    library.put(session.manifest)
    note(session.manifest)
    log.info(
      "recording ended",
      [
        "id": id, "room": session.manifest.room, "reason": reason.rawValue,
        "bytes": "\(session.manifest.bytes)",
      ])
    if let problem { log.warning("a recording could not be finished", ["id": id, "reason": problem]) }
  }

  private func note(_ ended: RecordingManifest) {
    tally.withLock { tally in
      tally.active -= 1
      tally.ended[ended.reason ?? .stopped, default: 0] += 1
    }
  }
}

/// Apart from any actor: C calls it on the new thread.
private func studioMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  Unmanaged<RecordingStudio>.fromOpaque(context).takeRetainedValue().loop()
  return nil
}
