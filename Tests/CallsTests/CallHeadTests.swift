import Calls
import Foundation
import Testing

@Suite("The head that a ring carries", .timeLimit(.minutes(1)))
struct CallHeadTests {
  private let now = CallTime(wall: 1_790_000_000_000, steady: 5_000)
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")
  private let eve = PersonID("eve")

  private func uuid(_ number: UInt64) -> CallUUID { CallUUID(random: (number, number)) }

  private func head(_ size: Int64) -> CallHead {
    CallHead(size: size, root: String(repeating: "0", count: 64))
  }

  private func begun() throws -> CallState {
    let start = CallState.Start(
      id: uuid(1), caller: ada, device: DeviceID("ada1"), session: uuid(2),
      recipients: [CallInvitation(bob, ring: uuid(3), head: head(7))], media: .audio)
    return try CallState.start(start, at: now).0
  }

  @Test func `is of who rings, in each ring its own, and of a later one another`() throws {
    var call = try begun()
    #expect(call[bob]?.ring?.head == head(7))
    _ = call.apply(.invite(by: ada, [CallInvitation(eve, ring: uuid(4), head: head(9))]), at: now)
    #expect(call[eve]?.ring?.head == head(9) && call[bob]?.ring?.head == head(7))
    // One who is rung already is so as before.
    _ = call.apply(.invite(by: ada, [CallInvitation(bob, ring: uuid(5), head: head(11))]), at: now)
    #expect(call[bob]?.ring?.head == head(7))
    _ = call.apply(.leave(bob, nil, .rejected), at: now)
    _ = call.apply(.invite(by: ada, [CallInvitation(bob, ring: uuid(6))]), at: now)
    #expect(call[bob]?.ring != nil && call[bob]?.ring?.head == nil)
  }

  @Test func `is written down with the call, and one of before is read without`() throws {
    let call = try begun()
    let bytes = try JSONEncoder().encode(call)
    #expect(try JSONDecoder().decode(CallState.self, from: bytes) == call)
    let text = String(decoding: bytes, as: UTF8.self)
    let start = try #require(text.range(of: #","head":{"#) ?? text.range(of: #""head":{"#))
    let end = try #require(text.range(of: "}", range: start.lowerBound..<text.endIndex))
    var old = text
    old.removeSubrange(start.lowerBound..<end.upperBound)
    let read = try JSONDecoder().decode(CallState.self, from: Data(old.replacing("{,", with: "{").utf8))
    #expect(read[bob]?.ring?.id == uuid(3) && read[bob]?.ring?.head == nil)
  }
}
