import AccessTokens
import Foundation
import Model
import Negotiation
import Peer
import Testing

@testable import Engine
@testable import Rooms

@Suite("A room as bytes", .serialized, .timeLimit(.minutes(1)))
struct RoomStateBytesTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Fixtures/state").standardizedFileURL

  /// The first that has a transport without a socket.
  private static let firstStandalone = 8
  /// The first that has stays.
  private static let firstStays = 9

  /// By number, of which each stands for a layout; the last is the newest.
  private static func kept() throws -> [(number: Int, bytes: [UInt8])] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
    let numbers = names.filter { $0.hasPrefix("room-") }.compactMap { Int($0.dropFirst(5).dropLast(4)) }
    return try numbers.sorted().map { number in
      (number, Array(try Data(contentsOf: folder.appending(path: "room-\(number).bin"))))
    }
  }

  private static func read(_ bytes: [UInt8]) throws -> RoomState {
    try RoomState(bytes: bytes, terms: StateRun.terms, now: Instant(nanoseconds: 2_200_000_000))
  }

  /// Writes state beside the newest, unless that is as this build writes it.
  private static func keep() throws {
    let newest = try kept().last
    if let newest, try read(newest.bytes).bytes == newest.bytes { return }
    let place = folder.appending(path: "room-\((newest?.number ?? 0) + 1).bin")
    try Data(try run().state.bytes).write(to: place)
  }

  /// A room in which everything has happened that its state can tell of.
  static func run() throws -> StateRun {
    var settings = RoomSettings(departureTimeout: 3, maxParticipants: 40)
    settings.metadata = "a room"
    let run = StateRun(settings: settings)
    run.handle(.start)
    let ada = try run.join("ada") { $0.canPublishSources = [.camera, .microphone] }
    _ = try ada.offer([.audio, .video], receivers: 2)
    let bob = try run.join("bob", opening: nil)
    let (up, down) = (try bob.open(.publishes), try bob.open(.subscribes))
    _ = try bob.offer([.audio], on: up)
    _ = try bob.takeOffer(audio: 1, video: 1, on: down)
    bob.ask(.makeOffer(SlotCount(audio: 2, video: 2), on: down))
    _ = try run.join("ghost") { $0.hidden = true }
    let eve = try run.join("eve") { $0.canUpdateOwnMetadata = true }
    eve.ask(.update(ParticipantChange(name: "Eve", metadata: "m", attributes: ["a": "b"])))
    _ = try eve.offer([.video], receivers: 1)
    let camera = ada.tracks[1].id.text
    eve.ask(.subscribe(camera, mid: nil, PicturePreference(), on: .first))
    eve.ask(.unsubscribe(bob.tracks[0].id.text, on: .first))
    run.handle(.administration(.mute(track: camera, of: "ada", true)))
    run.handle(.administration(.mute(track: eve.tracks[0].id.text, of: "eve", true)))
    var patch = ParticipantPatch()
    patch.permissions.canPublish = .set(false)
    run.handle(.administration(.changeParticipant("eve", patch)))
    var events = PeerEvents(peer: run.added[0])
    events.startedTracks = [0: .init(.opus)]
    run.handle(.media(events))
    let microphone = try #require(ada.transport()?.published[0].key)
    for _ in 0..<6 {
      run.now = run.now + .milliseconds(200)
      let quality = PeerQuality(loss: 0, roundTrip: .zero, lastHeard: run.now, bitrates: .init(received: 9))
      run.handle(
        .samples([
          PeerSample(
            peer: run.added[0], quality: quality,
            levels: [(microphone, TrackLevel(attenuation: 5, lastPacket: run.now))])
        ]))
    }
    ada.ask(.absent)
    _ = try run.whip("cam", [.video]) { $0.canPublishSources = [.camera] }
    run.handle(.stay(ada.id, "first", by: .session(1)))
    run.handle(.administration(.disconnect("bob", stay: "second", .movedElsewhere)))
    run.handle(.drain(until: WallTime(milliseconds: 1_700_000_900_000)))
    return run
  }

  @Test func `a room goes on from its bytes as if nothing had been`() throws {
    let (plain, rebuilt) = (try Self.run(), try Self.run())
    let bytes = rebuilt.state.bytes
    #expect(bytes == plain.state.bytes, "the same again, whatever the order of sets")
    try rebuilt.rebuild()
    #expect(rebuilt.state.bytes == bytes)
    func goOn(_ run: StateRun) throws -> [String] {
      let late = try run.join("late")
      _ = try late.offer([.video], receivers: 3)
      run.now = run.now + .seconds(16)
      run.handle(.alarm)
      run.handle(.close(.serverShutdown))
      return run.done + run.commands.map { "\($0)" }
        + run.events.map { "\($0.id) \($0.kind) \($0.time.text)" }
        + late.notices.map { "\($0)" }.filter { !$0.contains("SharedText") }
    }
    #expect(try goOn(plain) == goOn(rebuilt))
  }

  @Test func `what any build wrote this one reads, with all that is in it`() throws {
    if ProcessInfo.processInfo.environment["ROOST_KEEP_STATE"] == "1" { try Self.keep() }
    let kept = try Self.kept()
    #expect(!kept.isEmpty && kept.map(\.number) == Array(1...kept.count))
    for (number, bytes) in kept {
      let state = try Self.read(bytes)
      let hasStandalone = number >= Self.firstStandalone
      check(state, others: hasStandalone ? ["cam"] : [])
      if hasStandalone { checkStandalone(state) }
      if number >= Self.firstStays {
        #expect(state.members.map(\.stay.id) == ["first", nil, nil, nil, nil])
        #expect(
          state.members[1].stay.ended == [Stay.Ended(id: "second", reason: .movedElsewhere)])
      }
    }
  }

  @Test func `the newest state that is kept is as this build writes it`() throws {
    let newest = try #require(try Self.kept().last).bytes
    #expect(try Self.read(newest).bytes == newest, "scripts/keep-state keeps another beside it")
  }

  /// - Parameter others: who is in besides, each with one transport and one track.
  private func check(_ state: RoomState, others: [String]) {
    #expect(state.name == "r" && state.settings.metadata == "a room")
    #expect(state.lastEvent == 13 + 2 * others.count)
    #expect(state.members.map(\.identity) == ["ada", "bob", "ghost", "eve"] + others)
    #expect(state.members.map(\.transports.count) == [1, 2, 1, 1] + others.map { _ in 1 })
    #expect(state.members[3].metadata == "m" && state.members[3].attributes == ["a": "b"])
    #expect(state.members[0].info.tracks.map(\.mutedByAdmin) == [false, true])
    #expect(state.members[3].transports[0].withdrawn.count == 1)
    #expect(state.speaking.map(\.participant) == [state.members[0].id])
    #expect(state.deadline != nil && state.members[0].presence.deadline > Instant(nanoseconds: 0))
    #expect(state.members[1].transports[1].negotiator?.sections.count == 2)
  }

  private func checkStandalone(_ state: RoomState) {
    let member = state.members[4]
    let standalone = member.transports[0].standalone
    #expect(member.session == nil && member.hasStandalone && !member.info.tracks.isEmpty)
    #expect(standalone?.id.utf8.count == Standalone.idLength && standalone?.tag.isEmpty == false)
    #expect(standalone?.grants.canPublishSources == [.camera] && standalone?.selection == .all)
    #expect(state.members[..<4].allSatisfy { $0.session == 1 && !$0.hasStandalone })
  }

  @Test func `bytes that are cut off, follow, or are of another version are refused by name`() throws {
    let whole = try Self.run().state.bytes
    for count in stride(from: 0, to: whole.count, by: 7) {
      #expect(throws: StateError.self) {
        _ = try RoomState(
          bytes: Array(whole.prefix(count)), terms: StateRun.terms, now: Instant(nanoseconds: 0))
      }
    }
    #expect(throws: StateError.trailingBytes(count: 1)) {
      _ = try RoomState(bytes: whole + [0], terms: StateRun.terms, now: Instant(nanoseconds: 0))
    }
    #expect(throws: StateError.version(9, of: "room", known: 1...6, offset: 0)) {
      _ = try RoomState(bytes: [9] + whole.dropFirst(), terms: StateRun.terms, now: Instant(nanoseconds: 0))
    }
  }
}
