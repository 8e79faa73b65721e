import Foundation
import Glibc
import Logging
import Model
import Synchronization
import Testing

@testable import Recording

@Suite("What stands in the directory of recordings and isn't the server's", .timeLimit(.minutes(1)))
struct StrangeFoldersTests {
  private static let id = "RC_cccccccccccc"

  /// A directory with one recording, whose manifest is right.
  private static func manifest(_ change: (inout RecordingManifest) -> Void = { _ in }) -> [UInt8] {
    var manifest = RecordingManifest(id: id, room: "r", roomId: "RM_7", startedAt: "2026-01-01T00:00:00.000Z")
    var track = RecordingStudioTests.track("TR_1").entry
    track.files = [RecordingManifest.File(name: "TR_1.1.webm", codec: "VP8", start: 0, bytes: 0)]
    manifest.tracks = [track]
    change(&manifest)
    return manifest.json
  }

  /// - Returns: what the studio finds, and what it says of it.
  private func found(
    _ prepare: (_ recordings: URL, _ elsewhere: URL) throws -> Void,
    _ look: (RecordingStudio, _ elsewhere: URL) async throws -> Void = { _, _ in }
  ) async throws -> (recordings: [RecordingManifest], warnings: Int) {
    let folder = FileManager.default.temporaryDirectory.appending(path: "roost-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let (recordings, elsewhere) = (
      folder.appending(path: "recordings"), folder.appending(path: "elsewhere")
    )
    for each in [recordings, elsewhere] {
      try FileManager.default.createDirectory(at: each, withIntermediateDirectories: true)
    }
    try prepare(recordings, elsewhere)
    let warnings = Mutex(0)
    let studio = try RecordingStudioTests.studio(
      folder, log: Log(level: .warning) { _ in warnings.withLock { $0 += 1 } })
    defer { studio.stop() }
    try await look(studio, elsewhere)
    return try (await studio.recordings(of: "r", after: nil, limit: 9).found, warnings.withLock { $0 })
  }

  private func make(_ folder: URL, _ manifest: [UInt8] = Self.manifest()) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(manifest).write(to: folder.appending(path: "manifest.json"))
  }

  @Test func `a folder that is a link is no recording, and what it points at stays as it is`() async throws {
    let (recordings, _) = try await found { recordings, elsewhere in
      try make(elsewhere)
      try FileManager.default.createSymbolicLink(
        at: recordings.appending(path: Self.id), withDestinationURL: elsewhere)
    } _: { studio, elsewhere in
      await #expect(throws: RecordingStudio.Refusal.unknown) { try await studio.erase(Self.id, of: "r") }
      let kept = try Data(contentsOf: elsewhere.appending(path: "manifest.json"))
      #expect(Array(kept) == Self.manifest())
    }
    #expect(recordings.isEmpty)
  }

  @Test func `all recordings may lie behind a link to another disk`() async throws {
    let (recordings, warnings) = try await found { recordings, elsewhere in
      try FileManager.default.removeItem(at: recordings)
      try FileManager.default.createSymbolicLink(at: recordings, withDestinationURL: elsewhere)
      try make(elsewhere.appending(path: Self.id))
    }
    #expect(recordings.map(\.id) == [Self.id] && warnings == 0)
  }

  @Test(arguments: [true, false])
  func `who pages through recordings and erases each page sees all of them, also by hand`(
    byHand: Bool
  ) async throws {
    let ids = (1...7).map { "RC_aaaaaaaaaaa\($0)" }
    var seen: [String] = []
    _ = try await found { recordings, _ in
      for id in ids {
        let manifest = RecordingManifest(
          id: id, room: "r", roomId: "RM_7", state: .ended, startedAt: "2026-01-01T00:00:00.000Z")
        try make(recordings.appending(path: id), manifest.json)
      }
    } _: { studio, elsewhere in
      let recordings = elsewhere.deletingLastPathComponent().appending(path: "recordings")
      var after: String?
      repeat {
        let page = try await studio.recordings(of: "r", after: after, limit: 2)
        seen += page.found.map(\.id)
        // What was on this page, and the first of the next.
        for id in page.found.map(\.id) {
          if byHand {
            try FileManager.default.removeItem(at: recordings.appending(path: id))
          } else {
            try await studio.erase(id, of: "r")
          }
        }
        if byHand, after == nil {
          for id in ids[2..<4] { try FileManager.default.removeItem(at: recordings.appending(path: id)) }
        }
        after = page.next
      } while after != nil
    }
    #expect(seen == (byHand ? ids.filter { !ids[2..<4].contains($0) } : ids))
  }

  @Test func `a manifest that is a link is not read`() async throws {
    let (recordings, warnings) = try await found { recordings, elsewhere in
      try Data(Self.manifest()).write(to: elsewhere.appending(path: "manifest.json"))
      let place = recordings.appending(path: Self.id)
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(
        at: place.appending(path: "manifest.json"),
        withDestinationURL: elsewhere.appending(path: "manifest.json"))
    }
    #expect(recordings.isEmpty && warnings == 1)
  }

  @Test func `a manifest that is a pipe with no other end doesn't keep the server from starting`()
    async throws
  {
    let (recordings, warnings) = try await found { recordings, _ in
      let place = recordings.appending(path: Self.id)
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      #expect(mkfifo(place.appending(path: "manifest.json").path, 0o600) == 0)
    }
    #expect(recordings.isEmpty && warnings == 1)
  }

  @Test func `a file that is a link has no size, and to erase the recording removes the link alone`()
    async throws
  {
    let (recordings, _) = try await found { recordings, elsewhere in
      try make(recordings.appending(path: Self.id))
      try Data(count: 5_000).write(to: elsewhere.appending(path: "precious"))
      try FileManager.default.createSymbolicLink(
        at: recordings.appending(path: Self.id + "/TR_1.1.webm"),
        withDestinationURL: elsewhere.appending(path: "precious"))
    } _: { studio, elsewhere in
      #expect(try await studio.recording(Self.id, of: "r")?.bytes == 0)
      try await studio.erase(Self.id, of: "r")
      #expect(try Data(contentsOf: elsewhere.appending(path: "precious")).count == 5_000)
    }
    #expect(recordings.isEmpty)
  }

  @Test func `files that claim more than can be counted don't keep the server from starting`() async throws {
    let (recordings, _) = try await found { recordings, _ in
      let place = recordings.appending(path: Self.id)
      try make(
        place,
        Self.manifest { manifest in
          manifest.tracks[0].files = (1...3).map {
            RecordingManifest.File(name: "TR_1.\($0).webm", codec: "VP8", start: 0, bytes: .max)
          }
        })
      for number in 1...3 {
        let descriptor = open(place.appending(path: "TR_1.\(number).webm").path, O_CREAT | O_WRONLY, 0o600)
        // As large as this file system lets it be.
        for shift in (40..<63).reversed() where ftruncate(descriptor, off_t(1) << off_t(shift)) == 0 { break }
        close(descriptor)
      }
    }
    #expect(recordings.map(\.state) == [.ended])
  }

  @Test(arguments: [
    "", "{}", "[]", "null", "\u{0}", #"{"id":"RC_cccccccccccc"}"#, String(repeating: "[", count: 100_000),
  ])
  func `what is no manifest is said and passed over`(text: String) async throws {
    let (recordings, warnings) = try await found { recordings, _ in
      try make(recordings.appending(path: Self.id), Array(text.utf8))
      // Names of other things are not looked at.
      for name in ["RC_short", "RC_cccccccccc/x", "..RC_aaaaaaaaaa", "lost+found"] {
        try FileManager.default.createDirectory(
          at: recordings.appending(path: name), withIntermediateDirectories: true)
      }
    }
    #expect(recordings.isEmpty && warnings == 1)
  }

  @Test func `a manifest in another recording's folder is passed over`() async throws {
    let (recordings, warnings) = try await found { recordings, _ in
      try make(recordings.appending(path: "RC_dddddddddddd"))
    }
    #expect(recordings.isEmpty && warnings == 1)
  }

  @Test func `a folder in which a recording had yet to begin goes, and with anything else in it stays`()
    async throws
  {
    let (recordings, warnings) = try await found { recordings, _ in
      for (id, file) in [("RC_aaaaaaaaaaaa", ".reserve"), ("RC_bbbbbbbbbbbb", "notes.txt")] {
        let place = recordings.appending(path: id)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try Data(count: 5).write(to: place.appending(path: file))
      }
    } _: { _, elsewhere in
      let place = elsewhere.deletingLastPathComponent().appending(path: "recordings")
      let left = try? FileManager.default.contentsOfDirectory(atPath: place.path)
      #expect(left == ["RC_bbbbbbbbbbbb"])
    }
    #expect(recordings.isEmpty && warnings == 1)
  }

  private static var manyOfRoom: RecordingLimits {
    var limits = RecordingLimits(free: 0, kept: 1_000, keptOfRoom: 1_000)
    limits.atOnceInRoom = 16
    return limits
  }

  @Test func `a recording whose folder is taken away ends, and says why`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "roost-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let studio = try RecordingStudioTests.studio(folder)
    try await studio.reserve("r")
    studio.perform(.begin(id: Self.id, room: ("r", "RM_1"), at: Instant(nanoseconds: 0), most: nil))
    for _ in 0..<500
    where !FileManager.default.fileExists(
      atPath: folder.appending(path: "recordings/\(Self.id)/manifest.json").path)
    { try await Task.sleep(for: .milliseconds(10)) }
    try FileManager.default.removeItem(at: folder)
    studio.perform(.add(RecordingStudioTests.track("TR_1"), to: Self.id))
    var ends = studio.ended.makeAsyncIterator()
    #expect(await ends.next() == RecordingEnd(id: Self.id, room: "r", reason: .storageFailed))
    #expect(studio.counts.active == 0)
    #expect(try await studio.recording(Self.id, of: "r")?.reason == .storageFailed)
    // What is gone can be erased.
    try await studio.erase(Self.id, of: "r")
    #expect(studio.counts.kept == 0)
    studio.stop()
  }

  @Test func `a thousand that begin and end leave a manifest each, and nothing open`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "roost-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let studio = try RecordingStudioTests.studio(folder, limits: Self.manyOfRoom)
    func descriptors() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?
          .hasPrefix(folder.path) ?? false
      }.count
    }
    var begun = 0
    while begun < 1_000 {
      do throws(RecordingStudio.Refusal) { try await studio.reserve("r") } catch {
        // Sixteen at once are on their way to the disk.
        #expect(error == .full(atOnce: 16))
        try await Task.sleep(for: .milliseconds(5))
        continue
      }
      let id = "RC_" + String(repeating: "a", count: 8) + String(1_000 + begun)
      studio.perform(.begin(id: id, room: ("r", "RM_1"), at: Instant(nanoseconds: 0), most: nil))
      studio.perform(.add(RecordingStudioTests.track("TR_\(begun)"), to: id))
      studio.perform(.stop(id, .stopped))
      begun += 1
    }
    for _ in 0..<500 where studio.counts.active > 0 { try await Task.sleep(for: .milliseconds(10)) }
    #expect(studio.counts.active == 0 && studio.counts.ended == [.stopped: 1_000])
    await #expect(throws: RecordingStudio.Refusal.tooMany(kept: 1_000)) { try await studio.reserve("r") }
    #expect(try descriptors() == 0)
    for manifest in try await studio.recordings(of: "r", after: nil, limit: 2_000).found {
      try await studio.erase(manifest.id, of: "r")
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "recordings").path).isEmpty)
    studio.stop()
  }
}
