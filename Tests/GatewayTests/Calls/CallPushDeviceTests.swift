import CallDesk
import Calls
import Foundation
import HTTPServer
import Synchronization
import TestStores
import Testing

@testable import Gateway

@Suite("Devices that calls push to", .timeLimit(.minutes(2)))
struct CallPushDeviceTests {
  enum Leaving: CaseIterable, Sendable {
    case loggedOut
    case anothers
    case erased
  }

  private func register(_ calls: CallHouse, _ person: String, _ device: String) async {
    let answer = await calls.ask(
      .put, "/v1/devices/\(device)", #"{"platform":"webhook","token":"\#(device)"}"#, by: person)
    #expect(answer.status == 200)
  }

  private func leave(_ leaving: Leaving, _ calls: CallHouse) async throws {
    switch leaving {
    case .loggedOut: #expect(await calls.ask(.delete, "/v1/devices/full", by: "bob").status == 204)
    case .anothers: await register(calls, "eve", "full")
    case .erased: try await calls.desk.erase(PersonID("bob"))
    }
  }

  @Test(arguments: StoreKind.allCases, Leaving.allCases)
  func `to a device that is no longer the person's neither a ring nor its end goes any more`(
    kind: StoreKind, leaving: Leaving
  )
    async throws
  {
    try await PushReceiver.with(["full": 503]) { receiver, services in
      let calls = try await CallHouse(on: kind, services: services)
      await register(calls, "bob", "full")
      let (id, _) = await calls.start("ada", "bob")
      _ = try await receiver.wait(2)
      try await leave(leaving, calls)
      // What was under way comes yet.
      try await Task.sleep(for: .milliseconds(200))
      let count = receiver.all.count
      try await Task.sleep(for: .milliseconds(2_500))
      #expect(receiver.all.count == count)
      _ = await calls.ask(.post, "/v1/calls/\(id)/leave", "{}", by: "ada")
      try await Task.sleep(for: .milliseconds(300))
      #expect(receiver.all.count == count)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a device that has taken a ring and was logged out hears of no end`(kind: StoreKind) async throws {
    try await PushReceiver.with { receiver, services in
      let calls = try await CallHouse(on: kind, services: services)
      for device in ["gone", "phone"] { await register(calls, "bob", device) }
      let (id, _) = await calls.start("ada", "bob")
      _ = try await receiver.wait(2)
      #expect(await calls.ask(.delete, "/v1/devices/gone", by: "bob").status == 204)
      _ = await calls.ask(.post, "/v1/calls/\(id)/leave", "{}", by: "ada")
      _ = try await receiver.wait(3)
      try await Task.sleep(for: .milliseconds(200))
      #expect(receiver.all.filter { $0.type == "ended" }.map(\.device) == ["phone"])
    }
  }

  private func lastUse(_ calls: CallHouse) async throws -> Int64 {
    let devices = try await calls.desk.devices(of: PersonID("bob")).devices
    return try #require(devices.first).usedAt
  }

  @Test(arguments: StoreKind.allCases)
  func `a device that takes pushes is in use`(kind: StoreKind) async throws {
    try await PushReceiver.with { _, services in
      let calls = try await CallHouse(on: kind, services: services)
      await register(calls, "bob", "phone")
      let registered = try await lastUse(calls)
      calls.clock.move(7_200_000)
      _ = await calls.start("ada", "bob")
      var used = registered
      for _ in 0..<500 where used == registered {
        try await Task.sleep(for: .milliseconds(10))
        used = try await lastUse(calls)
      }
      #expect(used >= registered + 7_200_000)
    }
  }

  /// Goes on by an hour each time that it is looked at.
  private final class Hours: Sendable {
    private let count = Atomic<Int>(0)
    var now: Int { House.now + 3_600 * count.add(1, ordering: .relaxed).newValue }
  }

  @Test(arguments: StoreKind.allCases)
  func `a token that is no good goes also where its ring is forgotten by then`(kind: StoreKind) async throws {
    try await PushReceiver.with(["gone": 410]) { _, services in
      let hours = Hours()
      let calls = try await CallHouse(on: kind, services: services, adjust: { $0.now = { hours.now } })
      await register(calls, "bob", "gone")
      await register(calls, "eve", "here")
      // As the second ring begins the first is an hour old.
      _ = await calls.start("ada", "bob", "eve")
      var left = try await calls.desk.devices(of: PersonID("bob")).devices
      for _ in 0..<500 where !left.isEmpty {
        try await Task.sleep(for: .milliseconds(10))
        left = try await calls.desk.devices(of: PersonID("bob")).devices
      }
      #expect(left.isEmpty)
      #expect(try await calls.desk.devices(of: PersonID("eve")).devices.count == 1)
    }
  }
}
