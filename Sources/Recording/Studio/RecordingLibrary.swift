internal import Logging
internal import Model
internal import Synchronization

/// The recordings that there are, running ones and those that ended. Of one that has ended a summary is kept in memory; its manifest is
/// read from the disk on request.
final class RecordingLibrary: Sendable {
  /// What lists and limits go by.
  struct Summary: Equatable, Sendable {
    var id: String
    var room: String
    var roomId: String
    var startedAt: String

    init(_ manifest: RecordingManifest) {
      (id, room, roomId) = (manifest.id, manifest.room, manifest.roomId)
      startedAt = manifest.startedAt
    }

    /// Where it stands in lists, which holds after it is erased.
    var place: String { "\(startedAt)/\(id)" }
  }

  fileprivate struct Entry: Sendable {
    var summary: Summary
    /// Of one that runs, or that couldn't be written.
    var manifest: RecordingManifest?
    var isActive: Bool
  }

  fileprivate struct State: Sendable {
    var entries: [String: Entry] = [:]
    /// By the rooms' names, byte by byte.
    var counts: [[UInt8]: Int] = [:]
  }

  private let state: Mutex<State>
  private let path: String
  /// Those that an earlier process left open.
  let leftOpen: [Summary]

  /// Reads what an earlier process has left in the directory; recordings that it left open are closed.
  /// - Parameter time: now, for their end.
  init(_ path: String, time: String, log: Log) {
    self.path = path
    var found = State()
    var open: [Summary] = []
    for name in RecordingFolder.list(path) where RecordingManifest.isID(name) {
      let folder = RecordingFolder("\(path)/\(name)")
      guard var manifest = Self.read(name, folder) else {
        // One that ended before it had begun.
        if folder.removeIfEmpty() { continue }
        log.warning("a recording has no manifest that can be read", ["id": name])
        continue
      }
      var isWritten = true
      if manifest.state == .active {
        isWritten = Self.close(&manifest, folder, time: time, log)
        open.append(Summary(manifest))
      }
      found.put(manifest, isWritten: isWritten)
    }
    leftOpen = open
    state = Mutex(found)
  }

  private static func read(_ id: String, _ folder: RecordingFolder) -> RecordingManifest? {
    folder.readManifest(most: RecordingManifest.mostBytes).flatMap { RecordingManifest(json: $0) }
      .flatMap { $0.id == id ? $0 : nil }
  }

  /// A recording was left open: its files are as long as they are.
  /// - Returns: whether the manifest could be written.
  private static func close(
    _ manifest: inout RecordingManifest, _ folder: RecordingFolder, time: String, _ log: Log
  ) -> Bool {
    manifest.state = .ended
    manifest.reason = .serverFailed
    manifest.endedAt = time
    for track in manifest.tracks.indices {
      if manifest.tracks[track].state == .recording { manifest.tracks[track].state = .ended }
      if manifest.tracks[track].reason == .busy { manifest.tracks[track].reason = nil }
      for file in manifest.tracks[track].files.indices {
        manifest.tracks[track].files[file].bytes =
          folder.size(of: manifest.tracks[track].files[file].name) ?? 0
      }
    }
    // What began within a second of the end isn't in the manifest that was written last.
    let listed = Set(manifest.files.map(\.name))
    let unlisted = folder.files.filter { !listed.contains($0) }.prefix(RecordingLimits.unlisted)
    manifest.unlisted = unlisted.isEmpty ? nil : Array(unlisted)
    // Files of holes alone may claim more than any disk has.
    let sizes = manifest.files.map(\.bytes) + unlisted.map { folder.size(of: $0) ?? 0 }
    manifest.bytes = sizes.reduce(0) { $0.addingReportingOverflow($1).partialValue }
    folder.giveReserveBack()
    do throws(FileProblem) {
      try folder.write(manifest: manifest.json)
      log.info("a recording that was left open is closed", ["id": manifest.id, "room": manifest.room])
      return true
    } catch {
      log.warning(
        "a recording that was left open can't be closed", ["id": manifest.id, "reason": error.text])
      return false
    }
  }

  // MARK: - What is in memory

  var count: Int { state.withLock { $0.entries.count } }

  func count(of room: String) -> Int { state.withLock { $0.counts[Array(room.utf8), default: 0] } }

  /// - Returns: nil where there is none.
  func isActive(_ id: String) -> Bool? { state.withLock { $0.entries[id]?.isActive } }

  /// - Parameter isWritten: the disk has it, too.
  func put(_ manifest: RecordingManifest, isWritten: Bool = false) {
    state.withLock { $0.put(manifest, isWritten: isWritten) }
  }

  /// - Parameter room: nil: of any.
  func summary(of id: String, in room: String?) -> Summary? {
    state.withLock { state in
      guard let summary = state.entries[id]?.summary else { return nil }
      return room.map { $0.utf8.elementsEqual(summary.room.utf8) } ?? true ? summary : nil
    }
  }

  /// Of a room, by its name, in the order of their beginnings and ids.
  /// - Parameter after: the place of one that is or was there.
  func list(_ room: String, after: String?, limit: Int) -> [Summary] {
    state.withLock { state in
      state.entries.values.map(\.summary)
        .filter { summary in
          summary.room.utf8.elementsEqual(room.utf8) && after.map { summary.place > $0 } ?? true
        }
        .sorted { $0.place < $1.place }.prefix(limit).map { $0 }
    }
  }

  /// One that runs, or that the disk doesn't have.
  func inMemory(_ id: String) -> RecordingManifest? { state.withLock { $0.entries[id]?.manifest } }

  // MARK: - What is on the disk, which may take long

  func manifest(of id: String) -> RecordingManifest? {
    inMemory(id) ?? (isActive(id) == nil ? nil : Self.read(id, folder(id)))
  }

  private func folder(_ id: String) -> RecordingFolder { RecordingFolder("\(path)/\(id)") }

  /// - Throws: as the system says it.
  func erase(_ id: String) throws(FileProblem) {
    try folder(id).erase()
    state.withLock { $0.remove(id) }
  }
}

extension RecordingLibrary.State {
  fileprivate mutating func put(_ manifest: RecordingManifest, isWritten: Bool) {
    remove(manifest.id)
    entries[manifest.id] = RecordingLibrary.Entry(
      summary: RecordingLibrary.Summary(manifest), manifest: isWritten ? nil : manifest,
      isActive: manifest.state == .active)
    counts[Array(manifest.room.utf8), default: 0] += 1
  }

  fileprivate mutating func remove(_ id: String) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    let room = Array(entry.summary.room.utf8)
    counts[room] = counts[room].flatMap { $0 > 1 ? $0 - 1 : nil }
  }
}
