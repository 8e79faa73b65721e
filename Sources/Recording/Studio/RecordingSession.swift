internal import Media
package import Model

/// One recording while it runs: its tracks on their way into files, and its manifest. It belongs to one thread.
package struct RecordingSession {
  /// How often the manifest is written where nothing but sizes has changed, and what waits in files is.
  private static let pace = Duration.seconds(1)
  /// How much earlier than the first packet that comes of a participant its files begin, so that a track whose packets take longer has
  /// its first frames in them.
  private static let lead: Int64 = 300_000_000

  package private(set) var manifest: RecordingManifest
  private let folder: RecordingFolder
  private let terms: TrackRecorder.Terms
  private let most: Int
  private let free: Int
  /// By their ids.
  private var takes: [String: TrackTake] = [:]
  /// Where the files of each participant begin, in nanoseconds from the recording's beginning.
  private var origins: [String: Int64] = [:]
  private var pacedAt: Instant
  /// The manifest is other than what is written.
  private var hasChanged = false
  package private(set) var bytes = 0

  /// Makes its folder, with the manifest in it.
  /// - Parameters:
  ///   - most: bytes of all files.
  ///   - free: bytes that stay free on the disk.
  package init(
    _ manifest: RecordingManifest, folder: RecordingFolder, terms: TrackRecorder.Terms, most: Int, free: Int,
    now: Instant
  ) throws(FileProblem) {
    self.manifest = manifest
    self.folder = folder
    self.terms = terms
    self.most = most
    self.free = free
    pacedAt = now
    try folder.make()
    try folder.keepReserve()
    try folder.write(manifest: manifest.json)
  }

  // MARK: - Tracks

  /// Takes a track in; one that is encrypted end to end is noted and not written.
  package mutating func add(_ track: RecordedTrack, from supply: any TrackSupply, now: Instant) {
    guard takes[track.id] == nil else { return }
    if !manifest.participants.contains(where: { $0.id == track.publisher.id }) {
      guard manifest.participants.count <= RecordingLimits.tracks else { return }
      manifest.participants.append(track.publisher)
    }
    if let reason = skipReason(of: track) {
      // That there are more is noted once.
      if reason == .limit, manifest.tracks.last?.reason == .limit { return }
      var entry = track.entry
      (entry.state, entry.reason) = (.skipped, reason)
      manifest.tracks.append(entry)
      hasChanged = true
      return
    }
    let take = TrackTake(track, from: supply, terms: terms)
    supply.listen(now: now)
    manifest.tracks.append(take.entry)
    hasChanged = true
    takes[track.id] = take
  }

  private func skipReason(of track: RecordedTrack) -> RecordingManifest.SkipReason? {
    if manifest.tracks.count >= RecordingLimits.tracks { return .limit }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.encryptedRecorded) { return nil }
    #endif
    return track.isEncrypted ? .encrypted : nil
  }

  /// Nothing more comes of a track.
  package mutating func end(_ id: String, now: Instant) throws(FileProblem) {
    guard var take = takes.removeValue(forKey: id) else { return }
    defer { note(take) }
    take.supply.stop()
    _ = take.takePackets()
    try take.finish(in: folder, now: now)
  }

  private mutating func note(_ take: TrackTake) {
    guard let place = manifest.tracks.firstIndex(where: { $0.track == take.track.id }) else { return }
    manifest.tracks[place] = take.entry
    hasChanged = true
  }

  // MARK: - Work

  /// Writes what has come.
  /// - Returns: why it can't go on; nil: it does.
  package mutating func work(now: Instant) -> RecordingEndReason? {
    do throws(FileProblem) {
      for id in takes.keys.sorted() {
        // Out of the table meanwhile: two owners of what waits would copy it.
        guard var take = takes.removeValue(forKey: id) else { continue }
        defer { takes[id] = take }
        // What a sink that ended has left first: it is replaced.
        if let first = take.takePackets() { setOrigin(&take, first) }
        take.supply.listen(now: now)
        try take.work(in: folder, now: now)
        if take.hasChanged {
          take.hasChanged = false
          note(take)
        }
      }
      if hasChanged {
        try folder.write(manifest: manifest.json)
        hasChanged = false
      }
      guard now - pacedAt >= Self.pace else { return nil }
      pacedAt = now
      return try look()
    } catch {
      return error.isFull ? .diskFull : .storageFailed
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
    let whole = manifest.tracks.reduce(0) { sum, track in
      takes[track.track] == nil ? sum + track.files.reduce(0) { $0 + $1.bytes } : sum
    }
    bytes = takes.values.reduce(whole) { $0 + $1.bytes }
    if bytes >= most { return .tooLarge }
    if let left = folder.free, left < free { return .diskFull }
    return nil
  }

  // MARK: - End

  /// Ends its files and the manifest, as far as the disk lets it.
  /// - Returns: what could not be written; nil: all is.
  package mutating func finish(_ reason: RecordingEndReason, at moment: Instant, now: Instant) -> String? {
    folder.giveReserveBack()
    var problem: FileProblem?
    for id in takes.keys.sorted() {
      guard var take = takes.removeValue(forKey: id) else { continue }
      take.supply.stop()
      _ = take.takePackets()
      do throws(FileProblem) { try take.finish(in: folder, now: now) } catch {
        problem = error
        take.giveUp()
      }
      note(take)
    }
    manifest.state = .ended
    manifest.reason = reason
    manifest.endedAt = WallTime(terms.epoch.ntp(at: moment)).text
    manifest.bytes = manifest.tracks.reduce(0) { $0 + $1.files.reduce(0) { $0 + $1.bytes } }
    bytes = manifest.bytes
    do throws(FileProblem) { try folder.write(manifest: manifest.json) } catch { problem = error }
    return problem?.text
  }
}
