internal import Logging
internal import Model
internal import Synchronization

/// The recordings that there are, running ones and those that ended, as far as their manifests say: what REST asks about.
final class RecordingLibrary: Sendable {
  private let known = Mutex<[String: RecordingManifest]>([:])
  private let path: String
  /// Those that an earlier process left open.
  let leftOpen: [RecordingManifest]

  /// Reads what an earlier process has left in the directory; recordings that it left open are closed.
  /// - Parameter time: now, for their end.
  init(_ path: String, time: String, log: Log) {
    self.path = path
    var found: [String: RecordingManifest] = [:]
    var open: [RecordingManifest] = []
    for name in RecordingFolder.list(path) where RecordingManifest.isID(name) {
      let folder = RecordingFolder("\(path)/\(name)")
      guard let bytes = folder.readManifest(most: RecordingManifest.mostBytes),
        var manifest = RecordingManifest(json: bytes), manifest.id == name
      else {
        log.warning("a recording has no manifest that can be read", ["id": name])
        continue
      }
      if manifest.state == .active {
        Self.close(&manifest, folder, time: time, log)
        open.append(manifest)
      }
      found[name] = manifest
    }
    leftOpen = open
    known.withLock { [found] in $0 = found }
  }

  /// A recording was left open: its files are as long as they are.
  private static func close(
    _ manifest: inout RecordingManifest, _ folder: RecordingFolder, time: String, _ log: Log
  ) {
    manifest.state = .ended
    manifest.reason = .serverFailed
    manifest.endedAt = time
    for track in manifest.tracks.indices {
      if manifest.tracks[track].state == .recording { manifest.tracks[track].state = .ended }
      for file in manifest.tracks[track].files.indices {
        manifest.tracks[track].files[file].bytes =
          folder.size(of: manifest.tracks[track].files[file].name) ?? 0
      }
    }
    // Files of holes alone may claim more than any disk has.
    manifest.bytes = manifest.files.reduce(0) { $0.addingReportingOverflow($1.bytes).partialValue }
    folder.giveReserveBack()
    do throws(FileProblem) {
      try folder.write(manifest: manifest.json)
      log.info("a recording that was left open is closed", ["id": manifest.id, "room": manifest.room])
    } catch {
      log.warning(
        "a recording that was left open can't be closed", ["id": manifest.id, "reason": error.text])
    }
  }

  var count: Int { known.withLock { $0.count } }

  subscript(id: String) -> RecordingManifest? { known.withLock { $0[id] } }

  func put(_ manifest: RecordingManifest) { known.withLock { $0[manifest.id] = manifest } }

  func remove(_ id: String) { _ = known.withLock { $0.removeValue(forKey: id) } }

  /// Of a room, by its name, in the order of their beginnings and ids.
  func list(_ room: String, after: String?, limit: Int) -> [RecordingManifest] {
    known.withLock { known in
      let all = known.values.filter { $0.room.utf8.elementsEqual(room.utf8) }
        .sorted { ($0.startedAt, $0.id) < ($1.startedAt, $1.id) }
      guard let after, let last = all.firstIndex(where: { $0.id == after }) else {
        return after == nil ? Array(all.prefix(limit)) : []
      }
      return Array(all[(last + 1)...].prefix(limit))
    }
  }

  /// - Throws: as the system says it.
  func erase(_ manifest: RecordingManifest) throws(FileProblem) {
    try RecordingFolder("\(path)/\(manifest.id)").erase(manifest.files.map(\.name))
    remove(manifest.id)
  }
}
