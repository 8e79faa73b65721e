import Containers
import Engine
import Foundation
import Glibc
import Logging
import Model
import Synchronization
import Testing

@testable import Recording

@Suite("A disk that stands still", .timeLimit(.minutes(1)))
struct StillDiskTests {
  private static let id = "RC_aaaaaaaaaaaa"

  private final class Counter: Sendable {
    private let value = Mutex(0)
    func add() { value.withLock { $0 += 1 } }
    var count: Int { value.withLock { $0 } }
  }

  private final class Gate: Sendable {
    private let isShut = Mutex(true)
    func open() { isShut.withLock { $0 = false } }
    func pass() { while isShut.withLock({ $0 }) { usleep(1_000) } }
  }

  @Test func `a question gets no answer within its time, and behind as many as may wait none at once`()
    async throws
  {
    let questions = try DiskQuestions(patience: .milliseconds(200))
    let gate = Gate()
    let begun = Counter()
    let late = await withTaskGroup(of: Int?.self) { group in
      for number in 0..<DiskQuestions.most {
        group.addTask {
          await questions.answer(of: "\(number)") {
            begun.add()
            gate.pass()
            return number
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(late.count == DiskQuestions.most && late.allSatisfy { $0 == nil })
    let last = Counter()
    #expect(await questions.answer(of: "r") { last.add() } == nil)
    // It moves again: all that waited is done, and there is room for others.
    gate.open()
    var answer: Int?
    for _ in 0..<500 {
      answer = await questions.answer(of: "r") { 7 }
      if answer != nil { break }
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(answer == 7)
    // What no one waited for any longer wasn't begun.
    #expect(last.count == 0 && begun.count == 1)
    #expect(questions.stop(within: .seconds(10)))
  }

  @Test
  func
    `lists and erasures don't wait for files of recordings, and the server's end waits so long and no longer`()
    async throws
  {
    let folder = FileManager.default.temporaryDirectory.appending(path: "roost-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let warnings = Counter()
    let studio = try RecordingStudioTests.studio(
      folder, log: Log(level: .warning) { _ in warnings.add() })
    try await studio.reserve("r")
    studio.perform(.begin(id: Self.id, room: ("r", "RM_1"), at: Instant(nanoseconds: 0), most: nil))
    let gate = Gate()
    studio.disk.perform { gate.pass() }
    studio.perform(.stop(Self.id, .stopped))
    #expect(try await studio.recordings(of: "r", after: nil, limit: 9).found.map(\.id) == [Self.id])
    await #expect(throws: RecordingStudio.Refusal.isActive) { try await studio.erase(Self.id, of: "r") }
    try await studio.reserve("other")
    let asked = ContinuousClock.now
    studio.stop(within: .milliseconds(300))
    #expect(ContinuousClock.now - asked < .seconds(5))
    #expect(warnings.count == 1)
    gate.open()
  }

  @Test func `what goes wrong with a file while the last is written is the reason of its end`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "roost-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let thread = try DiskThread()
    var session = try RecordingSession(
      RecordingManifest(id: Self.id, room: "r", roomId: "RM_1", startedAt: "2026-01-01T00:00:00.000Z"),
      folder: RecordingFolder(folder.path), thread: thread,
      terms: TrackRecorder.Terms(epoch: Source.epoch, zero: Source.epoch.ntpAtZero), most: .max, free: 0,
      now: Instant(nanoseconds: 0))
    let gate = Gate()
    thread.perform { gate.pass() }
    var source = Source(.vp8)
    let supply = GivenSupply()
    session.add(RecordingStudioTests.track("TR_1"), from: supply, now: Instant(nanoseconds: 0))
    for turn in 0..<25 as Range<Int64> {
      let time = turn * 40_000_000
      supply.give(source.picture(at: time, isKeyFrame: turn == 0), clock: source.clock(at: time))
      #expect(session.work(now: Instant(nanoseconds: time)) == nil)
    }
    session.finish(
      .stopped, at: Instant(nanoseconds: 1_000_000_000), now: Instant(nanoseconds: 1_000_000_000)
    ) { end in
      #expect(end.manifest.reason == .storageFailed && end.isWritten && end.problem == FileProblem(ELOOP))
    }
    // Its sync is still to come, and what is there by then is none of ours.
    let file = folder.appending(path: "TR_1.1.webm")
    try FileManager.default.removeItem(at: file)
    try FileManager.default.createSymbolicLink(at: file, withDestinationURL: URL(filePath: "/etc/passwd"))
    gate.open()
    #expect(thread.stop())
    let read = RecordingFolder(folder.path).readManifest(most: RecordingManifest.mostBytes)
    #expect(read.flatMap { RecordingManifest(json: $0) }?.reason == .storageFailed)
  }

  @Test func `ended files take no descriptor while they wait to be synced`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "roost-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let thread = try DiskThread()
    let gate = Gate()
    thread.perform { gate.pass() }
    let place = RecordingFolder(folder.path)
    try place.make()
    let disk = RecordingDisk(place, thread)
    for number in 0..<200 {
      let name = "TR_1.\(number).webm"
      let file = try RecordingFile(name, in: place)
      var change = FileChange()
      change.appended = [1, 2, 3]
      try file.apply(change)
      try file.flush()
      for _ in 0..<3 { disk.sync(name) }
    }
    let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?.hasPrefix(
        folder.path) == true
    }
    #expect(open.isEmpty)
    gate.open()
    #expect(thread.stop() && disk.problem == nil)
  }
}
