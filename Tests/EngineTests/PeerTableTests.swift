import ICE
import Model
import Peer
import Testing
import Transport

@testable import Engine

@Suite("The peers of a worker", .timeLimit(.minutes(1)))
struct PeerTableTests {
  final class Owner {
    var table: PeerTable
    var context: PeerContext
    init(capacity: Int) throws {
      table = PeerTable(capacity: capacity)
      context = PeerContext(
        epoch: Epoch(ntpAtZero: NTPTime(unixNanoseconds: 0)), dtls: try MediaEngineTests.context(),
        random: .seeded(state: 1), outbox: Outbox(datagrams: 64) { $0.removeAll() })
    }

    var count: Int { table.count }
    var occupied: [Int] { table.occupied }
    var timerCount: Int { table.timerCount }
    var deadline: Instant { table.deadline }
    func find(_ serial: UInt64) -> Int? { table.find(PeerKey(home: 0, serial: serial)) }
    func key(_ place: Int) -> PeerKey? { table.key(place) }
    func due(_ moment: Instant) -> Int? { table.due(moment) }
    func state(_ place: Int) -> [UInt8]? { table.pointer(place).pointee.encode() }
    func replace(_ place: Int, from state: [UInt8]) -> Bool { table.replace(place, from: state) }

    func insert(_ serial: UInt64, at moment: Instant = Instant(nanoseconds: 0)) -> Int {
      let key = PeerKey(home: 0, serial: serial)
      var random = RandomSource.system
      let peer = Peer(
        PeerSetup(
          key: key, local: .generate(homeWorker: 0, random: &random),
          remote: RemoteTransport(
            credentials: ICECredentials(ufrag: "far", password: "farfarfarfarfarfarfarfar"),
            fingerprints: [], role: .server),
          media: AgreedMedia(), verification: .always, reportSSRC: 1, createdAt: moment),
        context: &context)
      let place = table.insert(peer, key: key)
      table.schedule(place)
      return place
    }
  }

  @Test func `a place is its peer's until that goes, and another's afterwards`() throws {
    let owner = try Owner(capacity: 3)
    let places = [1, 2, 3].map { owner.insert($0) }
    #expect(Set(places) == [0, 1, 2] && owner.occupied == [0, 1, 2])
    #expect(owner.find(2) == places[1] && owner.key(places[1]) == PeerKey(home: 0, serial: 2))
    owner.table.remove(places[1])
    owner.table.remove(places[1])
    #expect(owner.find(2) == nil && owner.key(places[1]) == nil && owner.count == 2)
    #expect(owner.insert(4) == places[1] && owner.key(-1) == nil && owner.key(3) == nil)
  }

  @Test func `peers are due in the order of their deadlines, and none that has gone`() throws {
    let owner = try Owner(capacity: 4)
    // A peer that doesn't come ends after 30 s.
    let places = [30, 10, 20].enumerated().map { number, seconds in
      owner.insert(UInt64(number + 1), at: Instant(nanoseconds: 0) + .seconds(seconds))
    }
    let first = Instant(nanoseconds: 0) + .seconds(10) + TransportTimers.connect
    #expect(owner.deadline == first && owner.timerCount == 3)
    #expect(owner.due(first + .milliseconds(-1)) == nil && owner.due(first) == places[1])
    owner.table.remove(places[1])
    #expect(owner.due(first + .seconds(20)) == places[2] && owner.timerCount == 2)
  }

  @Test func `a peer is replaced by one from its bytes at the same place, or by none`() throws {
    let owner = try Owner(capacity: 2)
    let place = owner.insert(1)
    let state = try #require(owner.state(place))
    #expect(owner.replace(place, from: state))
    #expect(owner.state(place) == state && owner.count == 1)
    #expect(!owner.replace(place, from: Array(state.dropLast())))
    #expect(owner.count == 0 && owner.timerCount == 0 && owner.deadline == .never)
    #expect(!owner.replace(place, from: state))
    #expect(owner.insert(2) == place)
  }
}
