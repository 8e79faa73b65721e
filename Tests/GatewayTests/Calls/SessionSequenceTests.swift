import CallDesk
import Calls
import Foundation
import HTTPServer
import Rooms
import Storage
import Synchronization
import TestStores
import Testing

@testable import Gateway

/// Clients of one session, by the real door and real sockets at it, while people come and go, sockets break, events are sent twice
/// and by either way, decisions are carried out in another order, owners leave and the server starts again. By what docs/sessions.md
/// says each ends with the same sequence, without gap or repeat.
@Suite("A shared session as its clients see it, through the doors", .timeLimit(.minutes(3)))
struct SessionSequenceTests {
  private struct Draw {
    var state: UInt64
    mutating func below(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(bound))
    }
  }

  /// Carries out what was decided a little later, in another order.
  private final class Shuffling: CallOutlet {
    private let rooms: CallRooms
    init(_ rooms: CallRooms) { self.rooms = rooms }
    func readers(of person: PersonID) -> EventReaders { rooms.readers(of: person) }
    func perform(_ aftermath: Aftermath) {
      let wait = Duration.milliseconds(Int.random(in: 0...3) * Int.random(in: 0...10))
      Task { [rooms] in
        try? await Task.sleep(for: wait)
        rooms.perform(aftermath)
      }
    }
  }

  private static let names = ["ada", "bob", "eve", "zoe", "kim", "max"]

  private static func terms(_ terms: inout CallDeskTerms) {
    (terms.sharing.eventsPerSecond, terms.sharing.eventsBehindSnapshot) = (10_000, 20)
    terms.sharing.changesPerMinute = 10_000
    terms.sessions.offer = 300
  }

  @Test(arguments: StoreKind.allCases)
  func `every client ends with one sequence, without gap or repeat`(kind: StoreKind) async throws {
    let seed = UInt64.random(in: 0 ... .max)
    var draw = Draw(state: seed)
    let scene = try await SessionScene(kind, active: Self.names, Self.terms) { Shuffling($0) }
    var calls = scene.calls
    let session = try await scene.session("ada")
    let clients = Self.names.map { SharedClient($0, session) }
    for client in clients { try await client.connect(scene, calls.house) }
    var sent = 0
    // Some draws keep most people out of the session for long: such a run takes more steps, so that each has enough events.
    var step = 0
    while step < 300 || clients.allSatisfy({ ($0.seen.last?.seq ?? 0) < 120 }) && step < 3_000 {
      defer { step += 1 }
      let client = clients[draw.below(clients.count)]
      try await act(step, draw.below(24), client, scene, calls, &sent, burst: draw.below(4))
      for client in clients where client.listen() && draw.below(3) == 0 {
        try await client.catchUp(scene, calls)
      }
      if step == 150 { calls = try await restart(clients, scene, calls) }
    }
    // All are in it at the end, with a last word.
    for client in clients {
      _ = await calls.join(scene.call, client.person)
      _ = await calls.ask(.post, scene.path("\(session)/join"), by: client.person)
    }
    _ = await calls.ask(
      .post, scene.path("\(session)/events"), #"{"id":"\#(SessionScene.uuid())","type":"last"}"#, by: "ada")
    let house = calls
    for client in clients {
      try await eventually("\(client.person), seed \(seed)") {
        if client.listen() || client.seen.last?.type != "last" { try await client.catchUp(scene, house) }
        return client.seen.last?.type == "last"
      }
      client.hangUp()
    }
    check(clients, seed)
    let last = clients[0].seen.last?.seq ?? 0
    print("shared session through the doors: \(last) events of \(sent) sent, on \(kind.rawValue)")
    #expect(last > 100, "seed \(seed)")
    await calls.store.close()
  }

  /// One thing that somebody does.
  private func act(
    _ step: Int, _ what: Int, _ client: SharedClient, _ scene: SessionScene, _ calls: CallHouse,
    _ sent: inout Int, burst: Int
  ) async throws {
    let (person, session) = (client.person, client.session)
    func ask(_ rest: String, _ body: String = "") async -> House.Answer {
      await calls.ask(.post, scene.path("\(session)/\(rest)"), body, by: person)
    }
    switch what {
    case 0: _ = await calls.join(scene.call, person)
    case 1 where step % 3 == 0:
      // Not the last two: the call would be over.
      let shown = await calls.ask(.get, "/v1/calls/\(scene.call)", by: "ada")
      if (shown["activeParticipants"] as? [String] ?? []).count > 3 {
        _ = await calls.ask(.post, "/v1/calls/\(scene.call)/leave", #"{"reason":"networkError"}"#, by: person)
      }
    case 2, 3, 4: _ = await ask("join")
    case 5 where step % 4 == 0: _ = await ask("leave")
    case 6, 7, 8: _ = await ask("owner", #"{"accept":true}"#)
    case 9: _ = await ask("owner", #"{"to":"\#(Self.names[step % Self.names.count])"}"#)
    case 10:
      let listed = await calls.ask(.get, "\(scene.path())?status=active", by: person)
      let last = listed.items.first?["lastSeq"] as? Int ?? 0
      _ = await calls.ask(.put, scene.path("\(session)/snapshot"), #"{"seq":\#(last),"state":1}"#, by: person)
    case 11: client.hangUp()
    case 12, 13:
      try await client.connect(scene, calls.house)
      try await client.catchUp(scene, calls)
    case 14: try await client.catchUp(scene, calls)
    default:
      // Some at once, by both ways, and some of them twice.
      for number in 0...burst {
        let id = SessionScene.uuid()
        let body = #"{"id":"\#(id)","type":"stroke","data":\#(step * 10 + number)}"#
        if number % 2 == 0 { client.say("\(step * 10 + number)", id: id) }
        if number % 2 == 1 || step % 3 == 0 { _ = await ask("events", body) }
        sent += 1
      }
    }
  }

  /// Another process on the same store: all sockets are gone.
  private func restart(_ clients: [SharedClient], _ scene: SessionScene, _ calls: CallHouse) async throws
    -> CallHouse
  {
    for client in clients { client.hangUp() }
    await calls.stop()
    var terms = CallDeskTerms()
    terms.book.call.media = 600_000
    Self.terms(&terms)
    let again = try await CallHouse(terms, after: calls.store, outlet: { Shuffling($0) })
    for client in clients {
      _ = await again.join(scene.call, client.person)
      try await client.connect(scene, again.house)
      try await client.catchUp(scene, again)
    }
    return again
  }

  private func check(_ clients: [SharedClient], _ seed: UInt64) {
    var all: [Int64: SeenEvent] = [:]
    for client in clients { for event in client.seen { all[event.seq] = event } }
    for client in clients {
      let note = Comment(rawValue: "seed \(seed), \(client.person)")
      let first = client.seen.first?.seq ?? 0
      #expect(first == (client.base ?? -1) + 1, note)
      #expect(client.seen.map(\.seq) == Array(first..<first + Int64(client.seen.count)), note)
      #expect(client.seen.allSatisfy { all[$0.seq] == $0 }, note)
      #expect(Set(client.seen.map(\.id)).count == client.seen.count, note)
      for events in client.sockets {
        #expect(zip(events, events.dropFirst()).allSatisfy { $0.seq < $1.seq }, note)
        #expect(events.allSatisfy { (all[$0.seq] ?? $0) == $0 }, note)
        // Who is in it misses nothing: between two that came, there is only what happened while it was out.
        for (before, after) in zip(events, events.dropFirst()) where after.seq > before.seq + 1 {
          let isOut = before.isComing(of: client.person) && after.isComing(of: client.person)
          #expect(isOut, note)
        }
      }
    }
    let reached = clients.map { $0.seen.last }
    #expect(Set(reached).count == 1, "seed \(seed)")
  }
}
