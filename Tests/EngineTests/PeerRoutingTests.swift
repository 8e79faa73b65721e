import ICE
import Model
import Polling
import Testing
import Wire

@testable import Engine

@Suite("Whose a datagram is", .timeLimit(.minutes(1)))
struct PeerRoutingTests {
  /// Workers' routing without peers or tracks, with the messages between them carried by hand.
  final class Workers {
    let exchange: Exchange
    private let routings: UnsafeMutablePointer<PeerRouting>
    let count: Int
    let now = Instant(nanoseconds: 1_000_000_000)

    init(_ count: Int, places: Int = 4) {
      self.count = count
      exchange = Exchange(count: count, wake: { _ in })
      routings = .allocate(capacity: count)
      for index in 0..<count {
        var random = RandomSource.seeded(state: UInt64(index))
        (routings + index).initialize(
          to: PeerRouting(
            index: index, places: places, pendingLimit: 16, exchange: exchange, random: &random))
      }
    }

    deinit {
      routings.deinitialize(count: count)
      routings.deallocate()
    }

    subscript(worker: Int) -> UnsafeMutablePointer<PeerRouting> { routings + worker }

    func counters(_ worker: Int) -> RoutingCounters { routings[worker].counters }
    func claims(_ worker: Int) -> Int { routings[worker].claims.count }
    func isHome(_ worker: Int, of key: PeerKey) -> Bool { routings[worker].isHome(of: key) }
    func isAdopted(_ worker: Int, _ place: Int) -> Bool { routings[worker].isAdopted(place) }
    func owner(_ worker: Int, of key: PeerKey) -> Int? { routings[worker].owner(of: key) }
    func asked(_ worker: Int, of key: PeerKey) -> Int? { routings[worker].asked(of: key) }
    func route(_ check: FirstCheck, at worker: Int) -> PeerRouting.Route { routings[worker].route(check) }
    func rivals(_ worker: Int, of path: NetworkPath) -> [PathTable.Destination] {
      routings[worker].isContested ? routings[worker].rivals(of: path) : []
    }
    /// Nothing is left of any peer.
    func isEmpty(_ worker: Int) -> Bool {
      routings[worker].homes.isEmpty && routings[worker].fragments.isEmpty && routings[worker].places.isEmpty
        && routings[worker].claims.count == 0
    }

    func route(_ bytes: [UInt8], on path: NetworkPath, at worker: Int) -> PeerRouting.Route {
      var bytes = bytes
      return bytes.withUnsafeMutableBytes {
        routings[worker].route($0, path: path, arrival: now, now: now)
      }
    }

    func handOver(_ bytes: [UInt8], on path: NetworkPath, to worker: Int, from other: Int)
      -> PeerRouting.Route
    {
      var bytes = bytes
      return bytes.withUnsafeMutableBytes {
        routings[worker].route(handedOver: $0, path: path, arrival: now, now: now, from: other)
      }
    }

    /// Takes what a worker was sent.
    func messages(_ worker: Int) -> [RoutingMessage] {
      exchange.mailboxes[worker].take().compactMap {
        if case .routing(let message) = $0 { message } else { nil }
      }
    }

    /// As a worker's loop would.
    func settle() {
      for worker in 0..<count {
        for message in messages(worker) {
          switch message {
          case .pathOwned(let path, let by, let isProven, let former):
            routings[worker].take(pathOwned: path, by: by, isProven: isProven, former: former)
          case .pathReleased(let path, let by): routings[worker].take(pathReleased: path, by: by)
          case .released(let key): routings[worker].forget(key)
          case .check, .adopted: break
          }
        }
      }
    }
  }

  static let media: [UInt8] = [0x80, 96] + Array(repeating: 0, count: 30)

  private func path(_ number: UInt16) -> NetworkPath {
    NetworkPath(
      remote: SocketAddress(ipv4: 192, 0, 2, 1, port: number),
      local: SocketAddress(ipv4: 10, 0, 0, 1, port: 1))
  }

  private func fragment(home: Int) -> (text: String, key: UfragKey) {
    var random = RandomSource.system
    let text = ICECredentials.generate(homeWorker: home, random: &random).ufrag
    return (text, UfragKey(text)!)
  }

  private func check(_ fragment: String) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 200)
    let size = bytes.withUnsafeMutableBytes { memory in
      var writer = STUNWriter(memory, .request, transaction: STUNTransactionID(high: 1, low: 2))
      writer.appendUsername(Array(fragment.utf8), Array("far".utf8))
      return writer.count
    }
    return Array(bytes[..<size])
  }

  @Test func `checks go by the fragment that they name, media by a path that was claimed`() {
    let workers = Workers(1)
    let own = fragment(home: 0)
    let key = PeerKey(home: 0, serial: 1)
    workers[0].pointee.add(key, ufrag: own.key, at: 2)
    #expect(workers.route(check(own.text), on: path(1), at: 0) == .check(place: 2))
    #expect(workers.route(Self.media, on: path(1), at: 0) == .nowhere)
    workers[0].pointee.claim(path(1), place: 2, via: 0, isProven: true)
    #expect(workers.route(Self.media, on: path(1), at: 0) == .peer(place: 2))
    #expect(workers.route(Self.media, on: path(2), at: 0) == .nowhere)
    #expect(workers.route(check(fragment(home: 0).text), on: path(1), at: 0) == .nowhere)
    #expect(workers.route([], on: path(1), at: 0) == .nowhere)
    let counters = workers.counters(0)
    #expect(counters.unknownPath == 2 && counters.unknownFragment == 1 && counters.noProtocol == 1)
    #expect(counters.received == 6)
    workers[0].pointee.remove(2)
    #expect(workers.route(check(own.text), on: path(1), at: 0) == .nowhere)
    #expect(workers.route(Self.media, on: path(1), at: 0) == .nowhere)
    #expect(workers.isEmpty(0) && workers.exchange.fragmentCount == 0)
  }

  @Test func `a check that comes in elsewhere asks its home once, which gives the peer away`() throws {
    let workers = Workers(2)
    let own = fragment(home: 0)
    let key = PeerKey(home: 0, serial: 1)
    workers[0].pointee.add(key, ufrag: own.key, at: 0)
    #expect(workers.route(check(own.text), on: path(1), at: 1) == .nowhere)
    #expect(workers.route(check(own.text), on: path(1), at: 1) == .nowhere)
    #expect(workers.counters(1).checksAsked == 1 && workers.counters(1).checksRepeated == 1)
    let asked = workers.messages(0)
    guard case .check(let first) = try #require(asked.first), asked.count == 1 else {
      Issue.record("\(asked.count) messages")
      return
    }
    #expect(workers.route(first, at: 0) == .check(place: 0))
    workers[0].pointee.claim(path(1), place: 0, via: 1, isProven: false)
    #expect(workers.isAdopted(0, 0))
    let moved = workers[0].pointee.handOn(0, state: [1, 2], to: 1)
    let peer = try #require(moved)
    #expect(peer.key == key && peer.paths.map(\.path) == [path(1)] && peer.state == [1, 2])
    workers[1].pointee.adopt(peer, at: 3)
    workers.settle()
    workers[1].pointee.claim(path(1), place: 3, via: 1, isProven: true, former: 0)
    #expect(workers.route(Self.media, on: path(1), at: 1) == .peer(place: 3))
    // Another of its addresses hashes to the home: passed on, and known from then on.
    #expect(workers.route(check(own.text), on: path(2), at: 0) == .worker(1))
    #expect(workers.handOver(check(own.text), on: path(2), to: 1, from: 0) == .check(place: 3))
    workers[1].pointee.claim(path(2), place: 3, via: 0, isProven: true)
    workers.settle()
    #expect(workers.route(Self.media, on: path(2), at: 0) == .worker(1))
    #expect(workers.handOver(Self.media, on: path(2), to: 1, from: 0) == .peer(place: 3))
    #expect(workers.owner(0, of: key) == 1 && workers.asked(0, of: key) == 1)
    #expect(workers.owner(1, of: key) == nil && workers.asked(1, of: key) == 0)
    // It ends there: nothing is left at either.
    workers[1].pointee.remove(3)
    workers.settle()
    #expect(workers.isEmpty(0) && workers.isEmpty(1) && workers.exchange.fragmentCount == 0)
  }

  @Test func `a check handed over to a home that has given its peer away goes after it`() throws {
    let workers = Workers(3)
    let own = fragment(home: 0)
    workers[0].pointee.add(PeerKey(home: 0, serial: 1), ufrag: own.key, at: 0)
    workers[0].pointee.claim(path(1), place: 0, via: 1, isProven: false)
    _ = workers[0].pointee.handOn(0, state: [], to: 1)
    _ = workers.messages(1)
    #expect(workers.handOver(check(own.text), on: path(1), to: 0, from: 2) == .nowhere)
    let messages = workers.messages(1)
    guard case .check(let passed) = try #require(messages.first) else { return }
    #expect(passed.from == 2 && passed.path == path(1))
    // What isn't a check, and names no peer, leads nowhere from there: no datagram goes round in a circle.
    #expect(workers.handOver(Self.media, on: path(1), to: 0, from: 2) == .nowhere)
    workers[0].pointee.take(pathOwned: path(3), by: 1, isProven: true, former: nil)
    #expect(workers.handOver(Self.media, on: path(3), to: 0, from: 2) == .nowhere)
    #expect(workers.counters(0).unknownPath == 2 && workers.counters(0).takenOver == 3)
    #expect(workers.counters(0).handedOver == 0)
  }

  @Test func `a check on a path of another worker's peer finds its own by its home`() throws {
    let workers = Workers(4)
    // At worker 1, which has the path; what comes on it is handed over from worker 0.
    workers[1].pointee.add(PeerKey(home: 1, serial: 1), ufrag: fragment(home: 1).key, at: 0)
    workers[1].pointee.claim(path(1), place: 0, via: 0, isProven: true)
    workers.settle()
    // Another peer, whose home is 2 and which is at worker 3.
    let own = fragment(home: 2)
    workers[2].pointee.add(PeerKey(home: 2, serial: 2), ufrag: own.key, at: 0)
    let given = workers[2].pointee.handOn(0, state: [], to: 3)
    workers[3].pointee.adopt(try #require(given), at: 0)
    #expect(workers.route(check(own.text), on: path(1), at: 0) == .worker(1))
    for _ in 0..<2 {
      #expect(workers.handOver(check(own.text), on: path(1), to: 1, from: 0) == .nowhere)
    }
    #expect(workers.counters(1).checksAsked == 1 && workers.counters(1).checksRepeated == 1)
    let asked = workers.messages(2)
    guard case .check(let first) = try #require(asked.first), asked.count == 1 else { return }
    #expect(first.from == 0 && first.path == path(1))
    #expect(workers.route(first, at: 2) == .nowhere)
    let passed = workers.messages(3)
    guard case .check(let last) = try #require(passed.first), passed.count == 1 else { return }
    #expect(workers.route(last, at: 3) == .check(place: 0))
    // A fragment that no peer has is asked about nowhere; one whose home the socket's worker is goes straight on.
    for home in 0..<4 {
      let unknown = fragment(home: home).text
      #expect(workers.handOver(check(unknown), on: path(1), to: 1, from: 0) == .nowhere)
    }
    #expect(workers.counters(1).unknownFragment == 4 && workers.counters(1).checksAsked == 1)
    let near = fragment(home: 0)
    workers[0].pointee.add(PeerKey(home: 0, serial: 3), ufrag: near.key, at: 0)
    _ = workers[0].pointee.handOn(0, state: [], to: 2)
    #expect(workers.route(check(near.text), on: path(1), at: 0) == .worker(2))
  }

  @Test func `an adopter without place gives paths and record back`() {
    let workers = Workers(2)
    let own = fragment(home: 0)
    let key = PeerKey(home: 0, serial: 1)
    workers[0].pointee.add(key, ufrag: own.key, at: 0)
    workers[0].pointee.claim(path(1), place: 0, via: 1, isProven: false)
    guard let peer = workers[0].pointee.handOn(0, state: [], to: 1) else { return }
    workers.settle()
    #expect(workers.claims(1) == 1 && workers.isHome(0, of: key))
    workers[1].pointee.refuse(peer)
    workers.settle()
    #expect(workers.isEmpty(0) && workers.isEmpty(1) && workers.exchange.fragmentCount == 0)
  }

  @Test func `a path is another peer's again when the one that took it goes`() {
    let workers = Workers(1)
    for place in 0..<2 {
      workers[0].pointee.add(
        PeerKey(home: 0, serial: UInt64(place + 1)), ufrag: fragment(home: 0).key, at: place)
    }
    workers[0].pointee.claim(path(1), place: 0, via: 0, isProven: true)
    workers[0].pointee.claim(path(1), place: 1, via: 0, isProven: false)
    #expect(workers.route(Self.media, on: path(1), at: 0) == .peer(place: 0))
    #expect(workers.rivals(0, of: path(1)) == [.peer(place: 1)])
    workers[0].pointee.claim(path(1), place: 1, via: 0, isProven: true)
    #expect(workers.route(Self.media, on: path(1), at: 0) == .peer(place: 1))
    workers[0].pointee.remove(1)
    #expect(workers.route(Self.media, on: path(1), at: 0) == .peer(place: 0))
    #expect(workers.rivals(0, of: path(1)) == [])
  }

  @Test func `a full ring drops what is handed over, and counts it`() {
    let workers = Workers(2)
    var datagram = [UInt8](repeating: 0x80, count: 1_200)
    datagram.withUnsafeMutableBytes { bytes in
      for _ in 0..<4_000 {
        workers[0].pointee.handOver(bytes, path: path(1), arrival: workers.now, to: 1)
      }
      for worker in [0, 2, 99] {
        workers[0].pointee.handOver(bytes, path: path(1), arrival: workers.now, to: worker)
      }
    }
    let counters = workers.counters(0)
    #expect(counters.handedOver + counters.handoverDropped == 4_000 && counters.handoverDropped > 500)
    let touched = workers[0].pointee.touched
    #expect(counters.unknownPath == 3 && touched == 0b10)
  }
}
