import Calls
import Foundation
import KeyDirectory
import TestStores
import Testing

@testable import CallDesk

/// Who may read which key of which call, whatever is asked by whom, in whatever order: a model of it judges every answer, and after each
/// step what each device of each person reads of each call.
@Suite("Who may read a key of a call", .timeLimit(.minutes(4)))
struct CallKeyOracleTests {
  private static let people = ["ada", "bob", "eve", "zoe", "mallory"]
  private static let devices = ["1", "2"]

  /// Random numbers that a seed decides.
  private struct Draw {
    var state: UInt64
    mutating func below(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(bound))
    }
    mutating func one<T>(of items: [T]) -> T { items[below(items.count)] }
  }

  private struct Place: Hashable {
    var person: PersonID
    var device: DeviceID
  }

  private struct Call {
    /// For whom there is such a call.
    var open: Set<PersonID> = []
    var removed: Set<PersonID> = []
    /// What was wrapped, for each device, and by whom.
    var kept: [Place: Kept] = [:]
    var index: Int64 = 0
    var isOver = false
  }

  private struct Kept: Equatable {
    var ciphertext: [UInt8]
    var from: PersonID
    var index: Int64
  }

  private struct Model {
    var calls: [CallUUID: Call] = [:]
    var blocks: Set<[PersonID]> = []
    var current: [Place: KeyID] = [:]

    func hasKey(_ person: PersonID) -> Bool { current.keys.contains { $0.person == person } }

    /// Keys that are all good, and those that were wrapped for what isn't current.
    func areCurrent(_ keys: [WrappedKey]) -> Bool {
      keys.allSatisfy { current[Place(person: $0.person, device: $0.device)] == $0.keyID }
    }

    func covers(_ keys: [WrappedKey], _ people: [PersonID]) -> Bool {
      Set(people).isSubset(of: keys.map(\.person))
    }

    /// What a device reads; nil: nothing.
    func reads(_ place: Place, of id: CallUUID) -> Kept? {
      guard let call = calls[id], !call.isOver, call.open.contains(place.person),
        !call.removed.contains(place.person)
      else { return nil }
      return call.kept[place]
    }

    mutating func give(_ keys: [WrappedKey], of id: CallUUID, by person: PersonID, to people: Set<PersonID>) {
      let index = calls[id]?.index ?? 0
      for place in calls[id]?.kept.keys.filter({ people.contains($0.person) }) ?? [] {
        calls[id]?.kept[place] = nil
      }
      for key in keys where people.contains(key.person) {
        calls[id]?.kept[Place(person: key.person, device: key.device)] = Kept(
          ciphertext: key.ciphertext, from: person, index: index)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `every device reads what was wrapped for it while its person is of the call, and nothing else`(
    kind: StoreKind
  ) async throws {
    let seed = UInt64.random(in: 0 ... .max)
    var draw = Draw(state: seed)
    var terms = CallDeskTerms()
    (terms.rates.starts, terms.rates.rings, terms.book.calls) = (10_000, 10_000, 10_000)
    (terms.keys.entriesPerMinute, terms.keys.entriesPerHour, terms.keys.changesPerMinute) = (
      10_000, 10_000, 10_000
    )
    try await TestDesk.with(kind, terms) { test in
      var model = Model()
      var calls: [CallUUID] = []
      // Keys of before, by which somebody may still wrap.
      var old: [WrappedKey] = []
      var given = 0
      for step in 0..<300 {
        let place = Comment(rawValue: "seed \(seed), step \(step)")
        _ = await test.desk.advance()
        let name = draw.one(of: Self.people)
        let device = name + draw.one(of: Self.devices)
        let (caller, fresh) = (TestDesk.caller(name, device), try TestDesk.key())
        let own = Place(person: caller.person, device: DeviceID(device))
        let other = PersonID(draw.one(of: Self.people))
        let third = PersonID(draw.one(of: Self.people))
        let call = calls.isEmpty ? TestDesk.uuid() : draw.one(of: calls.suffix(4))
        let state = try? await test.desk.call(call).state
        // Mostly good keys; sometimes one is left out, or is of before.
        var keys: [WrappedKey] = []
        for person in Set([other, third, caller.person]).sorted() where draw.below(12) > 0 {
          keys += try await test.wrap("\(step)", for: person.text).filter { _ in draw.below(12) > 0 }
        }
        if draw.below(15) == 0, let stale = old.last, !keys.contains(where: { $0.person == stale.person }) {
          keys.append(stale)
        }
        old = Array((old + keys).suffix(8))
        let wrapped = keys
        do throws(CallProblem) {
          switch draw.below(16) {
          case 0, 1, 2, 3:
            try await start(wrapped, [other, third], caller, test, &model, &calls, place)
          case 4, 5, 6:
            let index = model.calls[call]?.index ?? 0
            _ = try await test.desk.invite(
              [other, third], to: call, keys: wrapped, index: draw.below(6) == 0 ? index + 1 : index,
              by: caller)
            let new = Set([other, third]).filter {
              $0 != caller.person && state?.canInvite($0, unheard: false) ?? false
            }
            #expect(
              model.areCurrent(wrapped)
                && model.covers(wrapped, [other, third].filter { $0 != caller.person }),
              place)
            model.give(wrapped, of: call, by: caller.person, to: new)
            for person in new where !model.blocks.contains([person, caller.person]) {
              model.calls[call]?.open.insert(person)
            }
          case 7, 8:
            let index = (model.calls[call]?.index ?? 0) + Int64(draw.below(3))
            let changed = try await test.desk.changeKey(wrapped, to: index, of: call, by: caller)
            let members = state?.people.filter { $0.leaveReason != .removed }.map(\.id) ?? []
            let kept = wrapped.filter { members.contains($0.person) }
            // Who has none to give may say so twice.
            if index == model.calls[call]?.index, wrapped.isEmpty { break }
            #expect(index > model.calls[call]?.index ?? 0 && model.areCurrent(kept), place)
            let needed =
              state?.people.filter { $0.leaveReason == nil && $0.id != caller.person }.map(\.id) ?? []
            #expect(model.covers(kept, needed.filter(model.hasKey)), place)
            #expect(Set(changed.people) == Set(kept.map(\.person)), place)
            model.calls[call]?.kept = [:]
            model.calls[call]?.index = index
            model.give(kept, of: call, by: caller.person, to: Set(members))
          case 9, 10:
            let entry = try await test.desk.join(call, by: caller, takeover: draw.below(2) == 0)
            await test.media(true, (name, entry))
            #expect(entry.key.map(Self.kept) == model.reads(own, of: call), place)
          case 11:
            _ = try await test.desk.leave(call, by: caller, reason: draw.one(of: [.userLeft, .networkError]))
          case 12 where draw.below(3) == 0:
            _ = try await test.desk.remove(other, from: call)
            model.calls[call]?.removed.insert(other)
          case 13:
            if draw.below(4) == 0 {
              _ = try await test.desk.revokeKey(of: own.device, by: caller)
              model.current[own] = nil
            } else {
              let receipt = try await test.desk.publish(fresh, of: own.device, by: caller)
              model.current[own] = receipt.proven.entry.id
            }
          case 14 where draw.below(3) == 0:
            if draw.below(2) == 0 {
              try await test.desk.block(other, by: caller.person)
              model.blocks.insert([caller.person, other])
            } else {
              try await test.desk.unblock(other, by: caller.person)
              model.blocks.remove([caller.person, other])
            }
          case 15 where draw.below(6) == 0:
            try await test.desk.erase(caller.person)
            model.current = model.current.filter { $0.key.person != caller.person }
            for id in model.calls.keys {
              model.give([], of: id, by: caller.person, to: [caller.person])
            }
            // Its blocks are forgotten, and those of others of it.
            model.blocks = model.blocks.filter { !$0.contains(caller.person) }
          default: await test.pass(Int64(draw.below(8_000)))
          }
        } catch {
          if case .staleKey(let current, nil) = error {
            #expect(!model.areCurrent(wrapped), place)
            for key in current {
              #expect(model.current[Place(person: key.person, device: key.device)] == key.keyID, place)
            }
          }
        }
        // Rings bring what their person's devices may read, and no more.
        for ring in test.outlet.rings.dropFirst(given) {
          let expected = model.calls[ring.call.id]?.kept.filter { $0.key.person == ring.person } ?? [:]
          #expect(
            Dictionary(uniqueKeysWithValues: expected.map { ($0.key.device, $0.value) })
              == ring.keys.mapValues(Self.kept), place)
        }
        given = test.outlet.rings.count
        try await judge(calls.suffix(4), test, &model, place)
      }
      #expect(calls.count > 5, "seed \(seed)")
    }
  }

  private func start(
    _ keys: [WrappedKey], _ people: [PersonID], _ caller: Caller, _ test: TestDesk, _ model: inout Model,
    _ calls: inout [CallUUID], _ place: Comment
  ) async throws(CallProblem) {
    let allowed = keys.filter { people.contains($0.person) || $0.person == caller.person }
    var start = CallDesk.Start(id: TestDesk.uuid(), recipients: people, media: .audio)
    (start.isEncrypted, start.keys) = (true, allowed)
    let entry = try await test.desk.start(start, by: caller)
    let id = entry.call.state.id
    #expect(model.areCurrent(allowed), place)
    #expect(model.covers(allowed, people.filter { $0 != caller.person }), place)
    await test.media(true, (caller.person.text, entry))
    if !entry.isMerged {
      model.calls[id] = Call(open: [caller.person])
      for person in people where !model.blocks.contains([person, caller.person]) {
        model.calls[id]?.open.insert(person)
      }
      model.give(allowed, of: id, by: caller.person, to: Set(people + [caller.person]))
      calls.append(id)
    }
    // Where all are busy it is over as it begins.
    model.calls[id]?.isOver = entry.call.state.isEnded
    #expect(
      entry.key.map(Self.kept) == model.reads(Place(person: caller.person, device: entry.device), of: id),
      place)
  }

  /// Everyone reads everything, by every device.
  private func judge(
    _ calls: ArraySlice<CallUUID>, _ test: TestDesk, _ model: inout Model, _ place: Comment
  ) async throws {
    for id in calls {
      let state = try await test.desk.call(id).state
      model.calls[id]?.isOver = state.isEnded
      for name in Self.people {
        let person = PersonID(name)
        for device in Self.devices {
          let asked = Place(person: person, device: DeviceID(name + device))
          do throws(CallProblem) {
            let key = try await test.desk.callKey(of: id, for: person, device: asked.device)
            #expect(model.calls[id]?.open.contains(person) == true, place)
            #expect(key.map(Self.kept) == model.reads(asked, of: id), place)
          } catch {
            #expect(error == .notFound && model.calls[id]?.open.contains(person) == false, place)
          }
        }
      }
    }
  }

  private static func kept(_ key: CallKey) -> Kept {
    Kept(ciphertext: key.ciphertext, from: key.from, index: key.index)
  }
}
