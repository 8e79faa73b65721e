internal import Logging
internal import Model
internal import Polling
internal import Synchronization

/// What the recorder's thread does.
extension RecordingStudio {
  /// How often rings are emptied.
  static let turn = Duration.milliseconds(50)

  /// What the thread alone has.
  private struct Desk {
    var sessions: [String: RecordingSession] = [:]
    let sinks: SharedSinks
    /// When it was last said that a worker is full.
    var warnedAt: Instant?
    var refused: UInt64 = 0
  }

  func loop() {
    var desk = Desk(sinks: SharedSinks(bridge))
    while !stopping.load(ordering: .sequentiallyConsistent) {
      wakeup.wait(atMost: desk.sessions.isEmpty ? .seconds(60) : Self.turn)
      for command in mailbox.take() { run(command, &desk) }
      for id in desk.sessions.keys.sorted() { work(id, &desk) }
      count(&desk)
    }
    for command in mailbox.close() { run(command, &desk) }
    for id in desk.sessions.keys.sorted() { finish(id, .serverShutdown, byItself: false, &desk) }
  }

  private func count(_ desk: inout Desk) {
    let (bytes, refused) = (desk.sessions.values.reduce(0) { $0 + $1.bytes }, desk.sinks.refused)
    tally.withLock { ($0.counts.bytes, $0.counts.refused) = (bytes, refused) }
    guard refused != desk.refused else { return }
    desk.refused = refused
    let now = clock()
    if let last = desk.warnedAt, now - last < .seconds(60) { return }
    desk.warnedAt = now
    log.warning(
      "a worker serves as many recorded encodings as it may, or as many of one room or participant; others aren't recorded for now"
    )
  }

  private func run(_ command: RecordingCommand, _ desk: inout Desk) {
    let now = clock()
    switch command {
    case .begin(let id, let room, let moment, let most):
      begin(id, manifest(id, room, moment), at: moment, most: most, &desk)
    case .add(let track, let id):
      guard let key = track.key else { break }
      let sinks = desk.sinks
      attempt(id, &desk) { session throws(FileProblem) in
        let supply = SinkSupply(key, track, in: session.manifest.roomId, sinks: sinks)
        session.add(track, from: supply, now: now)
      }
    case .end(let track, let id):
      attempt(id, &desk) { session throws(FileProblem) in try session.end(track, now: now) }
    case .stop(let id, let reason): finish(id, reason, byItself: false, &desk)
    }
  }

  private func begin(
    _ id: String, _ manifest: RecordingManifest, at moment: Instant, most: Int?, _ desk: inout Desk
  ) {
    let terms = TrackRecorder.Terms(epoch: epoch, zero: epoch.ntp(at: moment))
    do throws(FileProblem) {
      desk.sessions[id] = try RecordingSession(
        manifest, folder: RecordingFolder("\(path)/\(id)"), thread: disk, terms: terms,
        most: min(most ?? .max, limits.bytes), free: limits.free, now: clock())
      log.info("recording began", ["id": id, "room": manifest.room])
    } catch {
      log.error("a recording can't begin", ["id": id, "room": manifest.room, "reason": error.text])
      var failed = manifest
      (failed.state, failed.endedAt) = (.ended, failed.startedAt)
      failed.reason = error.isFull ? .diskFull : .storageFailed
      note(failed, isWritten: false, byItself: true)
    }
  }

  private func attempt(
    _ id: String, _ desk: inout Desk, _ body: (inout RecordingSession) throws(FileProblem) -> Void
  ) {
    guard var session = desk.sessions.removeValue(forKey: id) else { return }
    var reason: RecordingEndReason?
    do throws(FileProblem) { try body(&session) } catch { reason = session.fail(error) }
    putBack(session, reason, &desk)
  }

  private func work(_ id: String, _ desk: inout Desk) {
    guard var session = desk.sessions.removeValue(forKey: id) else { return }
    let reason = session.work(now: clock())
    putBack(session, reason, &desk)
  }

  private func putBack(
    _ session: consuming RecordingSession, _ reason: RecordingEndReason?, _ desk: inout Desk
  ) {
    var session = session
    if let manifest = session.takeNews() { library.put(manifest) }
    let id = session.manifest.id
    desk.sessions[id] = session
    if let reason { finish(id, reason, byItself: true, &desk) }
  }

  private func finish(_ id: String, _ reason: RecordingEndReason, byItself: Bool, _ desk: inout Desk) {
    guard var session = desk.sessions.removeValue(forKey: id) else { return }
    let now = clock()
    session.finish(reason, at: now, now: now) { [self] end in
      let manifest = end.manifest
      if let problem = end.problem {
        log.warning("the disk refused a part of a recording", ["id": id, "reason": problem.text])
      }
      log.info(
        "recording ended",
        [
          "id": id, "room": manifest.room, "reason": manifest.reason?.rawValue ?? "",
          "bytes": "\(manifest.bytes)",
        ])
      note(manifest, isWritten: end.isWritten, byItself: byItself)
    }
  }

  /// One has ended, and lists say so.
  private func note(_ ended: RecordingManifest, isWritten: Bool, byItself: Bool) {
    let reason = ended.reason ?? .stopped
    // Together: who sees the one sees the other.
    tally.withLock { tally in
      library.put(ended, isWritten: isWritten)
      tally.counts.ended[reason, default: 0] += 1
      tally.giveBack(ended.room)
    }
    if byItself { endings.yield(RecordingEnd(id: ended.id, room: ended.room, reason: reason)) }
  }
}
