import Model
import Testing

@testable import Engine

/// A path comes in at one worker's socket; peers of all workers may claim it.
@Suite("Paths that peers of several workers claim", .timeLimit(.minutes(1)))
struct PathsBetweenWorkersTests {
  typealias Workers = PeerRoutingTests.Workers

  private static func path(_ number: Int) -> NetworkPath {
    NetworkPath(
      remote: SocketAddress(ipv4: 192, 0, 2, 1, port: UInt16(number)),
      local: SocketAddress(ipv4: 10, 0, 0, 1, port: 1))
  }

  private static func add(_ serial: Int, to workers: Workers, at worker: Int, place: Int) -> PeerKey {
    let key = PeerKey(home: worker, serial: UInt64(serial))
    workers[worker].pointee.add(key, ufrag: UfragKey(high: UInt64(serial), low: 7), at: place)
    return key
  }

  /// Peers of worker 1 claim a path of worker 0's socket.
  private func claim(_ workers: Workers, place: Int, proven: Bool) {
    workers[1].pointee.claim(Self.path(1), place: place, via: 0, isProven: proven)
    workers.settle()
  }

  @Test func `a check without proof takes no other peer's proof away at the worker whose socket it is`() {
    let workers = Workers(2)
    for place in 0..<2 { _ = Self.add(place + 1, to: workers, at: 1, place: place) }
    _ = Self.add(3, to: workers, at: 0, place: 0)
    claim(workers, place: 0, proven: true)
    claim(workers, place: 1, proven: false)
    // A peer of that worker, without proof as well.
    workers[0].pointee.claim(Self.path(1), place: 0, via: 0, isProven: false)
    #expect(workers.route(PeerRoutingTests.media, on: Self.path(1), at: 0) == .worker(1))
    #expect(
      workers.handOver(PeerRoutingTests.media, on: Self.path(1), to: 1, from: 0) == .peer(place: 0))
    // The one that has proven it goes: what is left is without proof, and a proof takes it.
    workers[1].pointee.remove(0)
    workers.settle()
    #expect(workers.route(PeerRoutingTests.media, on: Self.path(1), at: 0) == .worker(1))
    workers[0].pointee.claim(Self.path(1), place: 0, via: 0, isProven: true)
    #expect(workers.route(PeerRoutingTests.media, on: Self.path(1), at: 0) == .peer(place: 0))
  }

  @Test func `a path is proven at the other worker as long as one of its peers has proven it`() {
    let workers = Workers(2)
    for place in 0..<2 { _ = Self.add(place + 1, to: workers, at: 1, place: place) }
    _ = Self.add(3, to: workers, at: 0, place: 0)
    claim(workers, place: 0, proven: true)
    claim(workers, place: 1, proven: true)
    // The owner loses its proof; the other has it still.
    claim(workers, place: 1, proven: false)
    workers[0].pointee.claim(Self.path(1), place: 0, via: 0, isProven: false)
    #expect(workers.route(PeerRoutingTests.media, on: Self.path(1), at: 0) == .worker(1))
    #expect(
      workers.handOver(PeerRoutingTests.media, on: Self.path(1), to: 1, from: 0) == .peer(place: 0))
  }

  @Test func `an adopter without place takes no claim of its home's other peers back`() {
    let workers = Workers(3)
    for place in 0..<2 { _ = Self.add(place + 1, to: workers, at: 1, place: place) }
    claim(workers, place: 0, proven: true)
    claim(workers, place: 1, proven: true)
    guard let moved = workers[1].pointee.handOn(0, state: [], to: 2) else { return }
    workers[2].pointee.refuse(moved)
    workers.settle()
    #expect(workers.route(PeerRoutingTests.media, on: Self.path(1), at: 0) == .worker(1))
    workers[1].pointee.remove(1)
    workers.settle()
    #expect((0..<3).allSatisfy { workers.isEmpty($0) })
  }

  // MARK: - Whatever is claimed, in whatever order

  private struct Member {
    var worker: Int
    /// Nil while the peer is gone.
    var key: PeerKey?
    /// Its paths, and whether it has proven them.
    var paths: [Int: Bool] = [:]
  }

  /// Six peers of two or three workers and three paths, each of which comes in at one worker's socket.
  private final class Model {
    static let paths = 3
    let workers: Workers
    var members: [Member]
    var random: RandomSource
    private var serial = 0

    init(seed: UInt64) {
      workers = Workers(2 + Int(seed % 2), places: 6)
      members = Array(repeating: Member(worker: 0, key: nil), count: 6)
      random = .seeded(state: seed)
    }

    func draw(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    func via(_ path: Int) -> Int { path % workers.count }
    func path(_ number: Int) -> NetworkPath { PathsBetweenWorkersTests.path(number + 1) }

    /// A place is a member's own at every worker.
    func step() {
      let place = draw(members.count)
      let member = members[place]
      guard let key = member.key else {
        serial += 1
        let worker = draw(workers.count)
        members[place] = Member(
          worker: worker, key: PathsBetweenWorkersTests.add(serial, to: workers, at: worker, place: place))
        return
      }
      let number = draw(Self.paths)
      let routing = workers[member.worker]
      switch draw(16) {
      case 0:
        routing.pointee.remove(place)
        members[place] = Member(worker: 0, key: nil)
      case 1 where key.home == member.worker: move(place, key, to: draw(workers.count))
      case 2, 3, 4:
        routing.pointee.release(path(number), place: place)
        members[place].paths[number] = nil
      default:
        let isProven = draw(2) == 0
        routing.pointee.claim(path(number), place: place, via: via(number), isProven: isProven)
        members[place].paths[number] = isProven
      }
    }

    /// As `WorkerCore` does it.
    private func move(_ place: Int, _ key: PeerKey, to other: Int) {
      guard other != key.home,
        let moved = workers[key.home].pointee.handOn(place, state: [], to: other)
      else { return }
      // What was said before comes before the peer.
      workers.settle()
      workers[other].pointee.adopt(moved, at: place)
      members[place].worker = other
      for entry in moved.paths {
        workers[other].pointee.claim(
          entry.path, place: place, via: entry.via, isProven: entry.isProven,
          former: entry.isShared ? nil : key.home)
      }
    }

    /// The place that a datagram of the path gets to.
    func owner(_ number: Int) -> Int? {
      switch workers.route(PeerRoutingTests.media, on: path(number), at: via(number)) {
      case .peer(let place): return members[place].worker == via(number) ? place : nil
      case .worker(let worker):
        let route = workers.handOver(
          PeerRoutingTests.media, on: path(number), to: worker, from: via(number))
        guard case .peer(let place) = route else { return nil }
        return members[place].worker == worker ? place : nil
      default: return nil
      }
    }
  }

  @Test func `through random claims and moves a path that a present peer has proven is no other's`() {
    for seed in 1...40 as ClosedRange<UInt64> {
      let model = Model(seed: seed)
      for _ in 0..<400 {
        for _ in 0...model.draw(3) { model.step() }
        model.workers.settle()
        for number in 0..<Model.paths {
          let claims = model.members.indices.filter { model.members[$0].paths[number] != nil }
          let proven = claims.filter { model.members[$0].paths[number] == true }
          guard let owner = model.owner(number) else {
            #expect(claims.isEmpty, "seed \(seed)")
            continue
          }
          #expect((proven.isEmpty ? claims : proven).contains(owner), "seed \(seed)")
        }
      }
    }
  }
}
