import Model
import Testing

@testable import Engine

@Suite("Paths to peers", .timeLimit(.minutes(2)))
struct PathTableTests {
  final class Paths {
    var table: PathTable
    init(limit: Int, seed: UInt64 = 1) {
      var random = RandomSource.seeded(state: seed)
      table = PathTable(limit: limit, random: &random)
    }
    func find(_ path: NetworkPath) -> PathTable.Destination? { table.find(path) }
    func set(_ path: NetworkPath, to destination: PathTable.Destination) -> Bool {
      table.set(path, PathClaims.Claim(destination: destination, isProven: false))
    }
    var count: Int { table.count }
  }

  func path(_ number: Int, local: Int = 0) -> NetworkPath {
    NetworkPath(
      remote: SocketAddress(
        high: UInt64(number / 7 % 3), low: UInt64(number / 64), port: UInt16(number % 64),
        scope: UInt32(number % 2)),
      local: SocketAddress(ipv4: 10, 0, 0, UInt8(local), port: 3478))
  }

  @Test func `it agrees with a dictionary through random changes, near its limit`() {
    for seed in 1...4 as ClosedRange<UInt64> {
      let paths = Paths(limit: 300, seed: seed)
      var model: [NetworkPath: PathTable.Destination] = [:]
      var random = RandomSource.seeded(state: seed)
      for _ in 0..<40_000 {
        let key = path(Int(random.next() % 400))
        switch random.next() % 5 {
        case 0, 1:
          paths.table.remove(key)
          model[key] = nil
        default:
          let number = Int(random.next() % 64)
          let destination: PathTable.Destination =
            random.next() % 2 == 0 ? .worker(number) : .peer(place: number * 200_000)
          let taken = paths.set(key, to: destination)
          #expect(taken == (model[key] != nil || model.count < 300))
          if taken { model[key] = destination }
        }
        let other = path(Int(random.next() % 400))
        #expect(paths.find(other) == model[other])
        #expect(paths.count == model.count)
      }
      for number in 0..<400 { #expect(paths.find(path(number)) == model[path(number)]) }
    }
  }

  @Test func `a full table refuses newcomers, updates what is there, and takes them after a removal`() {
    let paths = Paths(limit: 5)
    for number in 0..<5 { #expect(paths.set(path(number), to: .peer(place: number))) }
    #expect(!paths.set(path(5), to: .peer(place: 5)))
    #expect(paths.set(path(3), to: .worker(2)))
    #expect(paths.find(path(3)) == .worker(2))
    paths.table.remove(path(99))
    #expect(paths.count == 5)
    paths.table.remove(path(0))
    #expect(paths.set(path(5), to: .peer(place: 5)))
    #expect(paths.find(path(0)) == nil)
  }

  @Test func `the address that was asked is part of a path`() {
    let paths = Paths(limit: 64)
    #expect(paths.set(path(1, local: 1), to: .peer(place: 1)))
    #expect(paths.find(path(1, local: 2)) == nil)
    #expect(paths.set(path(1, local: 2), to: .peer(place: 2)))
    paths.table.remove(path(1, local: 1))
    #expect(paths.find(path(1, local: 2)) == .peer(place: 2))
  }

  /// In a table of 64 places that is half full, clusters reach over its end every few seeds.
  @Test func `a path is found wherever its cluster lies, also over the table's end`() {
    for seed in 1...300 as ClosedRange<UInt64> {
      let paths = Paths(limit: 32, seed: seed)
      var model: Set<Int> = []
      var random = RandomSource.seeded(state: seed)
      for _ in 0..<120 {
        let number = Int(random.next() % 48)
        if model.contains(number) {
          paths.table.remove(path(number))
          model.remove(number)
        } else if paths.set(path(number), to: .peer(place: number)) {
          model.insert(number)
        }
        let isWhole = (0..<48).allSatisfy {
          paths.find(path($0)) == (model.contains($0) ? .peer(place: $0) : nil)
        }
        #expect(isWhole, "seed \(seed)")
        guard isWhole else { return }
      }
    }
  }
}
