internal import Media
package import Model

/// One recording while it runs: its tracks on their way into files, and its manifest. It belongs to one thread, and leaves what may take
/// a disk long to another.
package struct RecordingSession {
  /// How often the manifest is written at most, and how often what waits in files is.
  private static let pace = Duration.seconds(1)
  /// How much earlier than the first packet that comes of a participant its files begin, so that a track whose packets take longer has
  /// its first frames in them.
  private static let lead: Int64 = 300_000_000

  package private(set) var manifest: RecordingManifest
  private let disk: RecordingDisk
  private let terms: TrackRecorder.Terms
  private let most: Int
  private let free: Int
  /// By their ids.
  private var takes: [String: TrackTake] = [:]
  /// Where the files of each participant begin, in nanoseconds from the recording's beginning.
  private var origins: [String: Int64] = [:]
  private var shares = TrackShares()
  private var files: FileShares
  private var pacedAt: Instant
  private var writtenAt: Instant
  /// The manifest is other than what is written.
  private var hasChanged = true
  /// It is other than when it was asked for last.
  private var isNew = true
  package private(set) var bytes = 0
  /// What could not be written at the end, and what it ends for.
  private var ownProblem: FileProblem?
  private var cause: FileProblem?

  /// Makes its folder, with the manifest in it.
  /// - Parameters:
  ///   - thread: for what takes long.
  ///   - most: bytes of all files.
  ///   - free: bytes that stay free on the disk.
  package init(
    _ manifest: RecordingManifest, folder: RecordingFolder, thread: DiskThread, terms: TrackRecorder.Terms,
    most: Int, free: Int, now: Instant
  ) throws(FileProblem) {
    self.manifest = manifest
    self.terms = terms
    self.most = most
    self.free = free
    disk = RecordingDisk(folder, thread)
    files = FileShares(of: manifest)
    (pacedAt, writtenAt) = (now, now)
    try folder.make()
    do throws(FileProblem) {
      try folder.keepReserve()
      try folder.write(manifest: manifest.json, isSynced: false)
    } catch {
      _ = folder.removeIfEmpty()
      throw error
    }
  }

  // MARK: - Tracks

  /// Takes a track in; one that is encrypted end to end is noted and not written.
  package mutating func add(_ track: RecordedTrack, from supply: any TrackSupply, now: Instant) {
    guard takes[track.id] == nil else { return }
    let identity = track.publisher.identity
    if isEncrypted(track) {
      if shares.note(identity) { note(track, skipped: .encrypted) }
      return
    }
    guard shares.take(identity) else {
      if shares.noteLimit(identity) { note(track, skipped: .limit) }
      return
    }
    guard enter(track.entry, track.publisher, with: Self.firstFile(of: track.id)) else {
      return shares.giveBack(identity)
    }
    var take = TrackTake(track, from: supply, terms: terms)
    take.listen(now: now)
    takes[track.id] = take
  }

  private func isEncrypted(_ track: RecordedTrack) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.encryptedRecorded) { return false }
    #endif
    return track.isEncrypted
  }

  private mutating func note(_ track: RecordedTrack, skipped reason: RecordingManifest.SkipReason) {
    var entry = track.entry
    (entry.state, entry.reason) = (.skipped, reason)
    _ = enter(entry, track.publisher)
  }

  /// What a track that is written pays ahead.
  private static func firstFile(of track: String) -> Int { ManifestBudget.cost(ofFile: "\(track).1.webm") }

  /// - Returns: false where the manifest has no room for it.
  private mutating func enter(
    _ entry: RecordingManifest.Track, _ publisher: RecordingManifest.Participant, with file: Int = 0
  ) -> Bool {
    let isKnown = manifest.participants.contains { $0.id == publisher.id }
    let cost = file + ManifestBudget.cost(of: entry) + (isKnown ? 0 : ManifestBudget.cost(of: publisher))
    guard files.budget.take(cost) else { return false }
    if !isKnown { manifest.participants.append(publisher) }
    manifest.tracks.append(entry)
    noteChange()
    return true
  }

  /// Nothing more comes of a track.
  /// - Throws: what of it can't be written now; `finish` tries again.
  package mutating func end(_ id: String, now: Instant) throws(FileProblem) {
    guard var take = takes.removeValue(forKey: id) else { return }
    take.supply.stop()
    _ = take.takePackets()
    do throws(FileProblem) {
      try take.finish(on: disk, &files, now: now)
    } catch {
      note(take)
      takes[id] = take
      throw error
    }
    note(take)
    let publisher = take.track.publisher
    if !takes.values.contains(where: { $0.track.publisher.id == publisher.id }) {
      origins[publisher.id] = nil
    }
    guard take.entry.files.isEmpty else { return }
    // Nothing came of it: others may have its place.
    shares.giveBack(publisher.identity)
    files.budget.giveBack(Self.firstFile(of: id))
    if !shares.note(publisher.identity) { forget(id, publisher) }
  }

  private mutating func forget(_ id: String, _ publisher: RecordingManifest.Participant) {
    guard let place = manifest.tracks.lastIndex(where: { $0.track == id }) else { return }
    files.budget.giveBack(ManifestBudget.cost(of: manifest.tracks.remove(at: place)))
    noteChange()
    guard !manifest.tracks.contains(where: { $0.participant == publisher.id }),
      let person = manifest.participants.firstIndex(where: { $0.id == publisher.id })
    else { return }
    files.budget.giveBack(ManifestBudget.cost(of: manifest.participants.remove(at: person)))
  }

  private mutating func note(_ take: TrackTake) {
    guard let place = manifest.tracks.lastIndex(where: { $0.track == take.track.id }) else { return }
    manifest.tracks[place] = take.entry
    noteChange()
  }

  private mutating func noteChange() { (hasChanged, isNew) = (true, true) }

  /// - Returns: the manifest, where it is other than the last time.
  package mutating func takeNews() -> RecordingManifest? {
    defer { isNew = false }
    return isNew ? manifest : nil
  }

  // MARK: - Work

  /// Writes what has come.
  /// - Returns: why it can't go on; nil: it does.
  package mutating func work(now: Instant) -> RecordingEndReason? {
    do throws(FileProblem) {
      if let problem = disk.problem { throw problem }
      for id in takes.keys.sorted() {
        // Out of the table meanwhile: two owners of what waits would copy it.
        guard var take = takes.removeValue(forKey: id) else { continue }
        defer { takes[id] = take }
        // What a sink that ended has left first: it is replaced.
        if let first = take.takePackets() { setOrigin(&take, first) }
        take.listen(now: now)
        defer {
          if take.hasChanged {
            take.hasChanged = false
            note(take)
          }
        }
        try take.work(on: disk, &files, now: now)
      }
      if hasChanged, now - writtenAt >= Self.pace, disk.keep(manifest) {
        (hasChanged, writtenAt) = (false, now)
      }
      guard now - pacedAt >= Self.pace else { return nil }
      pacedAt = now
      return try look()
    } catch {
      return fail(error)
    }
  }

  /// Of a participant all files that begin together begin at the same moment.
  private mutating func setOrigin(_ take: inout TrackTake, _ first: Instant) {
    guard take.recorder.origin == nil else { return }
    let time = terms.epoch.ntp(at: first).nanoseconds(since: terms.zero) - Self.lead
    let participant = take.track.publisher.id
    let origin = origins[participant] ?? max(0, time)
    origins[participant] = origin
    take.recorder.origin = origin
  }

  private mutating func look() throws(FileProblem) -> RecordingEndReason? {
    for id in takes.keys { try takes[id]?.flush() }
    noteSizes()
    if bytes >= most { return .tooLarge }
    if let left = disk.free, left < free { return .diskFull }
    _ = disk.keep(nil)
    return nil
  }

  /// Sizes alone are no reason to write the manifest.
  private mutating func noteSizes() {
    var sum = 0
    for place in manifest.tracks.indices {
      if let take = takes[manifest.tracks[place].track], !take.entry.files.isEmpty {
        takes[take.track.id]?.noteSize()
        manifest.tracks[place].files = takes[take.track.id]?.entry.files ?? []
      }
      sum += manifest.tracks[place].files.reduce(0) { $0 + $1.bytes }
    }
    if sum != bytes { isNew = true }
    (bytes, manifest.bytes) = (sum, sum)
  }

  // MARK: - End

  /// Ends its files and the manifest, as far as the disk lets it. They outlive the machine once `then` is called, which is on the
  /// disk's thread.
  package mutating func finish(
    _ reason: RecordingEndReason, at moment: Instant, now: Instant,
    then: @escaping @Sendable (RecordingEnding) -> Void
  ) {
    disk.folder.giveReserveBack()
    disk.forgetFull()
    for id in takes.keys.sorted() {
      guard var take = takes.removeValue(forKey: id) else { continue }
      take.supply.stop()
      _ = take.takePackets()
      do throws(FileProblem) { try take.finish(on: disk, &files, now: now) } catch {
        ownProblem = ownProblem ?? error
        take.giveUp()
      }
      note(take)
    }
    manifest.state = .ended
    manifest.reason = reason
    manifest.endedAt = WallTime(terms.epoch.ntp(at: moment)).text
    noteSizes()
    isNew = true
    if let ownProblem { manifest.note(ownProblem) }
    disk.finish(manifest, after: cause ?? ownProblem, then: then)
  }

  /// What could not be written of one that has ended, as far as the disk's thread has come.
  package var problem: FileProblem? { ownProblem ?? disk.problem }

  /// It can't go on.
  package mutating func fail(_ problem: FileProblem) -> RecordingEndReason {
    cause = cause ?? problem
    return problem.isFull ? .diskFull : .storageFailed
  }
}

/// How a recording ended, as its manifest says.
package struct RecordingEnding: Sendable {
  /// With what went wrong for its reason.
  package var manifest: RecordingManifest
  /// The disk has the manifest.
  package var isWritten: Bool
  /// The first thing that went wrong.
  package var problem: FileProblem?
}
