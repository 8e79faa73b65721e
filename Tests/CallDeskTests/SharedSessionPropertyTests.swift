import Calls
import Foundation
import TestStores
import Testing

@testable import CallDesk

/// Clients that see a shared session by its snapshot, the events after it and what comes live, over a way that loses, repeats and
/// reorders, while people come and go and the server starts again: each ends with the same sequence, without gap or repeat.
@Suite("A shared session as its clients see it", .timeLimit(.minutes(3)))
struct SharedSessionPropertyTests {
  private struct Draw {
    var state: UInt64
    mutating func below(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(bound))
    }
  }

  /// What a client has seen: the snapshot's number, and the events behind it.
  private struct Client {
    let person: PersonID
    var base: Int64?
    var seen: [SharedEvent] = []
    var early: [Int64: SharedEvent] = [:]

    var next: Int64 { (seen.last?.seq ?? base ?? 0) + 1 }

    mutating func take(_ event: SharedEvent) {
      guard base != nil, event.seq >= next else { return }
      early[event.seq] = event
      while let following = early.removeValue(forKey: next) { seen.append(following) }
    }
  }

  /// Reads what is missing.
  private func catchUp(_ client: inout Client, _ test: TestDesk, _ session: CallUUID, _ call: CallUUID)
    async throws
  {
    if client.base == nil {
      do throws(CallProblem) {
        client.base = try await test.desk.snapshot(of: session, in: call, for: client.person).seq
      } catch {
        guard error == .notFound else { return }
        client.base = 0
      }
    }
    while true {
      do throws(CallProblem) {
        let events = try await test.desk.events(
          of: session, in: call, after: client.next - 1, limit: 50, for: client.person)
        if events.isEmpty { return }
        for event in events { client.take(event) }
      } catch {
        // Who isn't in the call sees nothing of it.
        if error == .notAllowed { return }
        guard case .compacted = error else { throw error }
        // It was away for too long, and begins again with the snapshot.
        client = Client(person: client.person)
        client.base = try await test.desk.snapshot(of: session, in: call, for: client.person).seq
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `every client ends with the same sequence, without gap or repeat`(kind: StoreKind) async throws {
    let seed = UInt64.random(in: 0 ... .max)
    var draw = Draw(state: seed)
    var terms = CallDeskTerms()
    (terms.sharing.eventsPerSecond, terms.sharing.eventsBehindSnapshot) = (10_000, 20)
    terms.sharing.changesPerMinute = 10_000
    let names = ["ada", "bob", "eve", "zoe", "kim"]
    let (call, session) = (TestDesk.uuid(), TestDesk.uuid())
    try await TestDesk.with(kind, terms) { first in
      var test = first
      let begun = try await test.desk.start(
        CallDesk.Start(id: call, recipients: names.dropFirst().map { PersonID($0) }, media: .audio),
        by: TestDesk.caller("ada"))
      await test.media(true, ("ada", begun))
      _ = try await test.desk.startSession(session, in: call, experience: "story", by: TestDesk.caller("ada"))
      var clients = names.map { Client(person: PersonID($0)) }
      var (delivered, sent) = (0, 0)
      // Some draws keep most people out of the session for long: such a run takes more steps, so that each has enough events.
      var step = 0
      while step < 600 || sent < 150 && step < 6_000 {
        defer { step += 1 }
        let place = draw.below(names.count)
        let (name, caller) = (names[place], TestDesk.caller(names[place]))
        do throws(CallProblem) {
          switch draw.below(20) {
          case 0:
            let entry = try await test.desk.join(call, by: caller)
            await test.media(true, (name, entry))
          case 1 where draw.below(3) == 0:
            // Not the last one: the call would be over.
            if try await test.desk.call(call, for: caller.person).state.active.count > 2 {
              _ = try await test.desk.leave(call, by: caller, reason: .networkError)
            }
          case 2: _ = try await test.desk.joinSession(session, in: call, by: caller)
          case 3 where draw.below(4) == 0: _ = try await test.desk.leaveSession(session, in: call, by: caller)
          case 4, 5: _ = try await test.desk.answerOffer(session, in: call, accepts: true, by: caller)
          case 6:
            let last = try await test.desk.sessions(of: call, isOpen: true, for: caller.person).first?.state
              .lastSeq
            try await test.desk.keepSnapshot(
              SharedSnapshot(seq: last ?? 0, people: [], state: []), of: session, in: call, by: caller)
          case 7 where draw.below(10) == 0: await test.pass(1_000)
          default:
            let id = TestDesk.uuid()
            for _ in 0..<(draw.below(4) == 0 ? 2 : 1) {
              _ = try await test.desk.append(
                id, type: "stroke", data: Array("\(step)".utf8), to: session, in: call, by: caller)
            }
            sent += 1
          }
        } catch {
          // Who may not, does not.
        }
        // Live: lost, repeated, in another order.
        let live = test.outlet.all.flatMap(\.sharedEvents)
        var news = Array(live.dropFirst(delivered))
        delivered = live.count
        if news.count > 1, draw.below(2) == 0 { news.reverse() }
        for index in clients.indices {
          for shared in news where shared.people.contains(clients[index].person) && draw.below(5) > 0 {
            for _ in 0...draw.below(2) { clients[index].take(shared.event) }
          }
          if draw.below(40) == 0 { try await catchUp(&clients[index], test, session, call) }
        }
        if draw.below(150) == 0 {
          test = test.restarted(terms)
          _ = try await test.desk.recover()
          for name in names {
            guard
              let mine = try await test.desk.call(call, for: PersonID(name)).state[PersonID(name)]?.session
            else { continue }
            test.desk.media(.stands, of: PersonID(name), session: mine.id, in: call)
          }
          await test.desk.writePresence()
          delivered = 0
        }
      }
      for index in clients.indices {
        _ = try await test.desk.join(call, by: TestDesk.caller(names[index]))
        try await catchUp(&clients[index], test, session, call)
      }
      let last = try await test.desk.sessions(of: call, isOpen: false, for: PersonID("ada"))[0].state.lastSeq
      let all = clients.map { Dictionary($0.seen.map { ($0.seq, $0) }) { first, _ in first } }
      for (client, events) in zip(clients, all) {
        #expect(client.next == last + 1, "seed \(seed), \(client.person.text)")
        #expect(events.count == client.seen.count, "seed \(seed), \(client.person.text) has one twice")
        for (seq, event) in events {
          #expect(all.allSatisfy { $0[seq].map { $0 == event } ?? true }, "seed \(seed), \(seq)")
        }
        let ids = client.seen.map(\.id)
        #expect(Set(ids).count == ids.count, "seed \(seed), \(client.person.text)")
      }
      print("figure: sessions, clients, \(kind.rawValue): \(last) events of \(sent) sent")
      #expect(last > 100, "seed \(seed)")
    }
  }
}
