public import Engine
public import Logging
public import Model
internal import Polling
internal import Synchronization

/// Records tracks of rooms into files, on a thread of its own: workers leave packets in rings and never wait, and where a disk is slow
/// a ring that is full drops and counts. What may take a disk long is on another.
///
/// Rooms say by commands what is recorded; what they may, they know. A recording that ends by itself, because of its size or of the
/// disk, is said by `ended`.
public final class RecordingStudio: Sendable {
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
    /// How often a worker had no room for an encoding that is recorded.
    public var refused: UInt64 = 0

    public init() {}
  }

  /// Why a recording doesn't begin or isn't erased.
  public enum Refusal: Error, Equatable, Sendable {
    /// So many run.
    case full(atOnce: Int)
    case roomFull(atOnce: Int)
    /// So many are kept.
    case tooMany(kept: Int)
    case tooManyOfRoom(kept: Int)
    /// Less space is free than has to stay free.
    case noSpace
    case isActive
    case unknown
    /// The disk doesn't answer in time; what was asked for may still be done.
    case slow
    /// As the system says it.
    case storage(String)
  }

  struct Tally {
    var counts = Counts()
    /// That run or are to begin, by their rooms' names.
    var rooms: [ExactName: Int] = [:]

    mutating func giveBack(_ name: String) {
      let room = ExactName(name)
      counts.active -= 1
      rooms[room] = rooms[room].flatMap { $0 > 1 ? $0 - 1 : nil }
    }
  }

  public let limits: RecordingLimits
  let path: String
  let library: RecordingLibrary
  let bridge: Bridge
  let clock: @Sendable () -> Instant
  let epoch: Epoch
  let log: Log
  let wakeup = Wakeup()
  let mailbox: Mailbox<RecordingCommand>
  let disk: DiskThread
  let questions: DiskQuestions
  let stopping = Atomic<Bool>(false)
  private let thread = Mutex<WorkThread?>(nil)
  let tally = Mutex(Tally())
  let endings: AsyncStream<RecordingEnd>.Continuation

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
    do throws(FileProblem) { try RecordingFolder(directory).make(isLinkAllowed: true) } catch {
      log.error("the directory of recordings can't be made", ["path": directory, "reason": error.text])
    }
    library = RecordingLibrary(directory, time: WallTime(epoch.ntp(at: clock())).text, log: log)
    mailbox = Mailbox(limit: RecordingLimits.commands, wake: { [wakeup] in wakeup.signal() })
    (ended, endings) = AsyncStream.makeStream(of: RecordingEnd.self)
    do throws(FileProblem) {
      (disk, questions) = (try DiskThread(), try DiskQuestions())
      let started = try WorkThread("roost-recorder") { [self] in loop() }
      thread.withLock { $0 = started }
    } catch { throw .storage("no thread can be made: \(error.text)") }
  }

  public var counts: Counts {
    var counts = tally.withLock { $0.counts }
    counts.kept = library.count
    return counts
  }

  // MARK: - What rooms and doors ask

  /// Keeps a place for a recording of a room; `begin` follows, or `giveBack`.
  public func reserve(_ room: String) async throws(Refusal) {
    if library.count >= limits.kept { throw .tooMany(kept: limits.kept) }
    if library.count(of: room) >= limits.keptOfRoom { throw .tooManyOfRoom(kept: limits.keptOfRoom) }
    // One that would end with its first second doesn't begin.
    let folder = RecordingFolder(path)
    guard let answer = await questions.answer(of: room, { folder.free }) else { throw .slow }
    if let free = answer, free - Self.least < limits.free { throw .noSpace }
    let room = ExactName(room)
    let refusal: Refusal? = tally.withLock { tally in
      guard tally.counts.active < limits.atOnce else { return .full(atOnce: limits.atOnce) }
      let ofRoom = tally.rooms[room, default: 0]
      guard ofRoom < limits.atOnceInRoom else { return .roomFull(atOnce: limits.atOnceInRoom) }
      tally.counts.active += 1
      tally.rooms[room] = ofRoom + 1
      return nil
    }
    if let refusal { throw refusal }
  }

  public func giveBack(_ room: String) { tally.withLock { $0.giveBack(room) } }

  /// Has it done; soon, and not before this returns. One that begins is in the list at once.
  public func perform(_ command: RecordingCommand) {
    if case .begin(let id, let room, let moment, _) = command {
      library.put(manifest(id, room, moment))
    }
    // What begins and stops is bounded by what may run; of tracks, only a disk that stands still has more wait than there may.
    let force = if case .add = command { false } else { true }
    if !mailbox.post(command, force: force) { tally.withLock { $0.counts.refused &+= 1 } }
  }

  func manifest(_ id: String, _ room: (name: String, id: String), _ at: Instant) -> RecordingManifest {
    RecordingManifest(
      id: id, room: room.name, roomId: room.id, startedAt: WallTime(epoch.ntp(at: at)).text)
  }

  /// Of a room, by its name, in the order in which they began.
  /// - Parameters:
  ///   - after: what `next` of the page before was; nil: it is the first page.
  ///   - limit: how many; fewer where their manifests are long.
  /// - Returns: them, and where the next page goes on; nil: there are no more.
  public func recordings(
    of room: String, after: String?, limit: Int
  ) async throws(Refusal) -> (found: [RecordingManifest], next: String?) {
    let listed = library.list(room, after: after, limit: limit + 1)
    let answer: (found: [RecordingManifest], next: String?)? = await questions.answer(of: room) { [library] in
      var found: [RecordingManifest] = []
      var bytes = 0
      for (place, summary) in listed.enumerated() {
        guard place < limit, bytes < RecordingLimits.bytesOfPage else {
          // Behind the last that was looked at, of which the disk may have nothing any more.
          return (found, listed[place - 1].place)
        }
        guard let manifest = library.manifest(of: summary.id) else { continue }
        found.append(manifest)
        bytes += manifest.roughSize
      }
      return (found, nil)
    }
    guard let answer else { throw .slow }
    return answer
  }

  /// - Returns: nil where that room has had no such recording.
  public func recording(_ id: String, of room: String) async throws(Refusal) -> RecordingManifest? {
    guard isKnown(id, in: room) else { return nil }
    if let running = library.inMemory(id) { return running }
    let answer = await questions.answer(of: room) { [library] in library.manifest(of: id) }
    guard let answer else { throw .slow }
    return answer
  }

  /// Whether a recording of that room runs, or is still being written; nil: there is none.
  public func isActive(_ id: String, of room: String) -> Bool? {
    isKnown(id, in: room) ? library.isActive(id) : nil
  }

  private func isKnown(_ id: String, in room: String) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.recordingOfAnyRoom) { return library.summary(of: id, in: nil) != nil }
    #endif
    return library.summary(of: id, in: room) != nil
  }

  /// Those of a room, by its id, that an earlier process left open.
  public func leftOpen(of room: String) -> [String] {
    library.leftOpen.filter { $0.roomId == room }.map(\.id)
  }

  /// Removes a recording that has ended, with its files.
  public func erase(_ id: String, of room: String) async throws(Refusal) {
    guard let isActive = isActive(id, of: room) else { throw .unknown }
    guard !isActive else { throw .isActive }
    let answer: FileProblem?? = await questions.answer(of: room) { [library] in
      do throws(FileProblem) { try library.erase(id) } catch { return error }
      return nil
    }
    guard let answer else { throw .slow }
    if let problem = answer { throw .storage(problem.text) }
    log.info("recording erased", ["id": id, "room": room])
  }

  /// Ends every recording, and returns when their files are whole, or the disk hasn't taken them in time: the server's end doesn't wait for a
  /// disk that stands still. What is left open is closed at the next start.
  public func stop(within patience: Duration = .seconds(10)) {
    stopping.store(true, ordering: .sequentiallyConsistent)
    wakeup.signal()
    let isWhole = thread.withLock({ $0.take() })?.join(within: patience) ?? true
    if !disk.stop(within: isWhole ? patience : .zero) || !isWhole {
      log.warning("the disk doesn't answer: recordings are left as they are and closed at the next start")
    }
    _ = questions.stop(within: .milliseconds(100))
    endings.finish()
  }
}
