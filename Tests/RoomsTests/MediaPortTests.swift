import AccessTokens
import Engine
import ICE
import Logging
import Model
import Negotiation
import Synchronization
import Testing

@testable import Rooms

@Suite("The media plane as rooms reach it", .timeLimit(.minutes(2)))
struct MediaPortTests {
  private final class Keys: Sendable {
    private let next = Mutex<UInt64>(0)
    func make(_ home: Int) -> PeerKey {
      next.withLock { next in
        next += 1
        return PeerKey(home: home, serial: next)
      }
    }
  }

  /// Workers that never have a turn.
  private static func port(_ random: RandomSource = .system) -> MediaPort {
    let keys = Keys()
    var port = MediaPort(
      workers: 3, fingerprint: Fingerprint(algorithm: .sha256, digest: Array(repeating: 1, count: 32)),
      epoch: Epoch(ntpAtZero: NTPTime(unixNanoseconds: 0)), now: { Instant(nanoseconds: 5_000_000_000) },
      makeKey: { keys.make($0) }, bridge: Bridge(workers: 3, wake: { _ in }, eventsReady: {}),
      eventsReady: AsyncStream { $0.finish() }, isAnswering: { false })
    port.random = random
    return port
  }

  private static func plane(_ port: MediaPort) -> MediaPlane {
    MediaPlane(port, candidates: [], verification: .always, peerLimit: 4)
  }

  @Test func `homes get peers evenly, up to the limit`() throws {
    let media = Self.plane(Self.port())
    let keys = (0..<4).compactMap { _ in media.reserve() }
    #expect(keys.map(\.home) == [0, 1, 2, 0] && media.reserved == 4)
    #expect(media.reserve() == nil)
    media.release(keys[1])
    #expect(media.reserve()?.home == 1)
  }

  @Test func `what is drawn follows from the seed`() {
    let key = PeerKey(home: 1, serial: 1)
    let drawn = { (seed: UInt64) -> [LocalTransport] in
      let media = Self.plane(Self.port(.seeded(state: seed)))
      return [media.local(for: key), media.local(for: key)]
    }
    #expect(drawn(1) == drawn(1))
    #expect(drawn(1) != drawn(2) && drawn(1)[0] != drawn(1)[1])
  }

  @Test func `rooms go by the port's clock, and in the order in which they were made`() async throws {
    let media = Self.plane(Self.port())
    #expect(media.now == Instant(nanoseconds: 5_000_000_000))
    #expect(media.wallTime == WallTime(milliseconds: 5_000))
    let directory = RoomDirectory(
      media: media, limits: RoomDirectory.Limits(), log: Log(level: .error) { _ in })
    #expect(await !directory.isReady())
    for name in ["c", "a", "d", "b"] {
      _ = try await directory.join(room: name, identity: "x", name: nil, grants: .join(name))
    }
    #expect(directory.registry.withRooms { $0.inOrder.map(\.name) } == ["c", "a", "d", "b"])
    let left = directory.remainders
    #expect(left.rooms == 4 && left.sessions == 4 && left.peers == 0 && left.alarms == 0)
  }
}
