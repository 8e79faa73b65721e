import Calls
import Foundation
import Synchronization
import TestStores
import Testing

@testable import CallDesk

/// Who may know of which call, whatever is asked by whom: a model of it judges every answer and every event.
@Suite("Who may know of a call", .timeLimit(.minutes(3)))
struct CallOracleTests {
  private static let people = ["ada", "bob", "eve", "zoe", "mallory"]

  /// Random numbers that a seed decides.
  private struct Draw {
    var state: UInt64
    mutating func below(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(bound))
    }
    mutating func one<T>(of items: [T]) -> T { items[below(items.count)] }
  }

  private struct Oracle {
    /// For whom there is such a call.
    var open: [CallUUID: Set<PersonID>] = [:]
    var blocks: Set<[PersonID]> = []
    var removed: Set<[String]> = []

    func hears(_ person: PersonID, of other: PersonID) -> Bool { !blocks.contains([person, other]) }

    mutating func begun(_ call: CallUUID, by caller: PersonID, _ others: [PersonID]) {
      open[call, default: []].insert(caller)
      invited(call, by: caller, others)
    }

    mutating func invited(_ call: CallUUID, by person: PersonID, _ others: [PersonID]) {
      for other in others where hears(other, of: person) { open[call, default: []].insert(other) }
    }

    func knows(_ person: PersonID, _ call: CallUUID) -> Bool { open[call]?.contains(person) ?? false }
  }

  /// One whose media comes here, or goes from device to device.
  private static func start(_ others: [PersonID], _ draw: inout Draw) -> CallDesk.Start {
    var start = CallDesk.Start(id: TestDesk.uuid(), recipients: others, media: .audio)
    if draw.below(3) == 0 { start.path = .direct }
    return start
  }

  /// The media of one who has come stands; in a direct call it is by the person's streams that it is there.
  private func stand(_ name: String, _ entry: CallEntry, _ test: TestDesk) async {
    if entry.call.state.path == .relay { await test.media(true, (name, entry)) }
    await test.desk.writePresence()
  }

  /// A person begins to read its events by both devices, or ends.
  private func read(_ name: String, _ reads: Bool, _ test: TestDesk) {
    let person = PersonID(name)
    let readers = reads ? EventReaders([DeviceID("\(name)1"), DeviceID("\(name)2")]) : EventReaders()
    test.outlet.reading.withLock { $0[person] = readers }
    test.desk.readersChanged(of: person)
  }

  @Test(arguments: StoreKind.allCases)
  func `every answer and every event is of what the person may know, and of nothing else`(kind: StoreKind)
    async throws
  {
    let seed = UInt64.random(in: 0 ... .max)
    var draw = Draw(state: seed)
    var terms = CallDeskTerms()
    (terms.rates.starts, terms.rates.rings) = (1_000, 1_000)
    try await TestDesk.with(kind, terms) { test in
      for name in Self.people { read(name, true, test) }
      var oracle = Oracle()
      var calls = [TestDesk.uuid()]
      for step in 0..<400 {
        let name = draw.one(of: Self.people)
        let caller = TestDesk.caller(name, draw.below(4) == 0 ? "\(name)2" : nil)
        let call = draw.one(of: calls.suffix(6))
        let other = PersonID(draw.one(of: Self.people))
        let place = Comment(rawValue: "seed \(seed), step \(step), \(name)")
        var problem: CallProblem?
        var isAboutCall = true
        do throws(CallProblem) {
          switch draw.below(14) {
          case 0, 1:
            isAboutCall = false
            let others = [other, PersonID(draw.one(of: Self.people))]
            let entry = try await test.desk.start(Self.start(others, &draw), by: caller)
            oracle.begun(
              entry.call.state.id, by: caller.person,
              entry.isMerged ? [] : others.filter { $0 != caller.person })
            calls.append(entry.call.state.id)
            await stand(name, entry, test)
          case 2, 3, 4:
            let entry = try await test.desk.join(call, by: caller, takeover: draw.below(3) == 0)
            await stand(name, entry, test)
          case 5:
            _ = try await test.desk.leave(
              call, by: caller, reason: draw.one(of: [.userLeft, .rejected, .networkError]))
          case 6:
            let before = try? await test.desk.call(call).state
            _ = try await test.desk.invite([other], to: call, by: caller)
            // Who is rung already stays as it is, also one who hears nothing of it.
            if before?.canInvite(other, unheard: false) ?? false {
              oracle.invited(call, by: caller.person, [other])
            }
          case 7: _ = try await test.desk.change(call, CallChange(metadata: "\(step)"), by: caller)
          case 8:
            let signal = CallDesk.Signal(id: TestDesk.uuid(), to: other, kind: "x", payload: "AAAA")
            // Of the recipient it is said in the same words that there is none such.
            do throws(CallProblem) { _ = try await test.desk.signal(signal, in: call, by: caller) } catch {
              if error != .notFound || !oracle.knows(caller.person, call) { throw error }
            }
          case 9:
            isAboutCall = false
            if draw.below(2) == 0 {
              try await test.desk.block(other, by: caller.person)
              oracle.blocks.insert([caller.person, other])
            } else {
              try await test.desk.unblock(other, by: caller.person)
              oracle.blocks.remove([caller.person, other])
            }
          case 10:
            _ = try await test.desk.startSession(TestDesk.uuid(), in: call, experience: "story", by: caller)
          case 11: _ = try await test.desk.sessions(of: call, isOpen: false, for: caller.person)
          case 12:
            isAboutCall = false
            await test.pass(Int64(draw.below(15_000)))
          default:
            let document = try await test.desk.call(call, for: caller.person)
            #expect(document.state.isOpen(to: caller.person), place)
          }
        } catch { problem = error }
        if isAboutCall {
          #expect(
            (problem == .notFound) == !oracle.knows(caller.person, call),
            "\(place), \(String(describing: problem))")
        }
      }
      for name in Self.people {
        let person = PersonID(name)
        let history = try await test.desk.calls(of: person, limit: 200).calls.map(\.state.id)
        #expect(history.allSatisfy { oracle.knows(person, $0) }, "seed \(seed), \(name)")
        var (after, isMore) = (Int64(0), true)
        while isMore {
          let page = try await test.desk.events(of: person, after: after, limit: 200)
          #expect(page.events.map(\.number) == Array((after + 1)..<(after + 1 + Int64(page.events.count))))
          for event in page.events {
            #expect(
              event.call.map { oracle.knows(person, $0) } ?? true, "seed \(seed), \(name), \(event.kind)")
          }
          isMore = !page.events.isEmpty
          after += Int64(page.events.count)
        }
        #expect(after == (try await test.desk.events(of: person, after: after, limit: 1).last))
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `every ring ends once in what its person hears, and every call that is left alone`(kind: StoreKind)
    async throws
  {
    let seed = UInt64.random(in: 0 ... .max)
    var draw = Draw(state: seed)
    var terms = CallDeskTerms()
    (terms.rates.starts, terms.rates.rings) = (1_000, 1_000)
    try await TestDesk.with(kind, terms) { test in
      var calls: [CallUUID] = []
      for name in Self.people { read(name, true, test) }
      for _ in 0..<150 {
        let name = draw.one(of: Self.people)
        if draw.below(6) == 0 { read(name, draw.below(2) == 0, test) }
        do throws(CallProblem) {
          if calls.isEmpty || draw.below(3) == 0 {
            let others = Self.people.filter { _ in draw.below(2) == 0 }.map { PersonID($0) }
            let entry = try await test.desk.start(Self.start(others, &draw), by: TestDesk.caller(name))
            calls.append(entry.call.state.id)
            await test.desk.writePresence()
          } else if draw.below(2) == 0 {
            let entry = try await test.desk.join(draw.one(of: calls.suffix(4)), by: TestDesk.caller(name))
            await stand(name, entry, test)
          } else {
            _ = try await test.desk.leave(
              draw.one(of: calls.suffix(4)), by: TestDesk.caller(name), reason: .userLeft)
          }
        } catch { continue }
        if draw.below(4) == 0 { await test.pass(Int64(draw.below(20_000))) }
      }
      // What has no end of its own goes on by two whose media stands, and is followed.
      for call in calls {
        let state = try await test.desk.call(call).state
        guard !state.isEnded, state.deadline == nil else { continue }
        #expect(state.active.count >= 2, "seed \(seed)")
      }
      // Every one loses the network, and nothing more is done.
      for name in Self.people { read(name, false, test) }
      for call in calls {
        let state = try await test.desk.call(call).state
        for person in state.people where state.path == .relay {
          guard let session = person.session else { continue }
          test.desk.media(.lost, of: person.id, session: session.id, in: call)
        }
      }
      await test.desk.writePresence()
      for _ in 0..<6 { await test.pass(60_000) }
      for call in calls { #expect(try await test.desk.call(call).state.isEnded, "seed \(seed)") }
      for name in Self.people {
        var (begun, ended): ([CallUUID], [CallUUID]) = ([], [])
        for event in try await test.heardAll(name) {
          switch event.kind {
          case .ringing:
            begun.append(try JSONDecoder().decode(RingingBody.self, from: Data(event.body)).ringId)
          case .ringEnded:
            ended.append(try JSONDecoder().decode(RingEndedBody.self, from: Data(event.body)).ringId)
          default: break
          }
        }
        #expect(Set(begun).count == begun.count && begun.sorted() == ended.sorted(), "seed \(seed), \(name)")
      }
    }
  }
}
