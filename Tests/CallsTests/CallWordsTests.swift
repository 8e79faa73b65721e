import Foundation
import Testing

@testable import Calls

@Suite("What was said of a call before now", .timeLimit(.minutes(1)))
struct CallWordsTests {
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")

  private func uuid(_ number: UInt64) -> CallUUID { CallUUID(random: (number, number)) }

  private func time(_ steady: Int64) -> CallTime {
    CallTime(wall: 1_790_000_000_000 + steady, steady: steady)
  }

  /// Ada's media stands, and Bob's is awaited until 20 s.
  private func talking() throws -> CallState {
    let start = CallState.Start(
      id: uuid(1), caller: ada, device: DeviceID("ada1"), session: uuid(2),
      recipients: [CallInvitation(bob, ring: uuid(3))], media: .audio)
    var (call, _) = try CallState.start(start, at: time(0))
    _ = call.apply(.mediaCame(ada, session: uuid(2)), at: time(0))
    _ = call.apply(.join(bob, DeviceID("bob1"), session: uuid(4), takeover: false), at: time(0))
    return call
  }

  private func came(_ moment: Int64) -> CallBook.Word {
    CallBook.Word(of: uuid(1), .mediaCame(bob, session: uuid(4)), number: 1, at: time(moment))
  }

  @Test func `it counts from when it was said, and time goes on from there`() throws {
    let book = CallBook([try talking()], hearing: [came(5_000)], at: time(60_000))
    #expect(book[uuid(1)]?.active == [ada, bob] && book[uuid(1)]?.connectedAt == time(5_000))
    #expect(book.changes.flatMap(\.effects).allSatisfy { $0 == .updated })
    let late = CallBook([try talking()], hearing: [came(20_000)], at: time(60_000))
    #expect(late[uuid(1)]?[bob]?.leaveReason == .networkError)
  }

  @Test func `what is said again changes nothing, until another process goes on with the call`() throws {
    var call = try #require(CallBook([try talking()], hearing: [came(5_000)], at: time(6_000))[uuid(1)])
    _ = call.apply(.mediaWent(bob, session: uuid(4)), at: time(7_000))
    let again = CallBook([call], hearing: [came(5_000)], at: time(22_000))
    #expect(again[uuid(1)]?[bob]?.leaveReason == .networkError)
    let bytes = try JSONEncoder().encode(call)
    let read = try JSONDecoder().decode(CallState.self, from: bytes)
    #expect(read == call && read.heard == 1)
    let next = read.carried(from: time(0).offset, to: time(8_000), terms: CallTerms())
    #expect(next.heard == 0)
  }
}
