import Model
import Testing

@testable import Engine

@Suite("Paths that several claim", .timeLimit(.minutes(2)))
struct PathClaimsTests {
  final class Claims {
    var table: PathClaims
    init(limit: Int = 100) {
      var random = RandomSource.seeded(state: 5)
      table = PathClaims(limit: limit, random: &random)
    }
    @discardableResult
    func enter(_ place: Int, proven: Bool = false, on path: NetworkPath = PathClaimsTests.path) -> Bool {
      table.enter(path, .init(destination: .peer(place: place), isProven: proven))
    }
    func leave(_ place: Int) { table.leave(PathClaimsTests.path, .peer(place: place)) }
    func holds(_ place: Int) -> Bool { table.holds(PathClaimsTests.path, .peer(place: place)) }
    var owner: Int? {
      guard case .peer(let slot) = table.find(PathClaimsTests.path) else { return nil }
      return slot
    }
  }

  static let path = path(1)
  static func path(_ port: Int) -> NetworkPath {
    NetworkPath(
      remote: SocketAddress(ipv4: 192, 0, 2, 1, port: UInt16(port)),
      local: SocketAddress(ipv4: 10, 0, 0, 1, port: 7_882))
  }

  @Test func `a claim without proof takes no proven path, however often it is made`() {
    let claims = Claims()
    claims.enter(1)
    claims.enter(1, proven: true)
    for _ in 0..<1_000 { for slot in 2...20 { claims.enter(slot) } }
    #expect(claims.owner == 1)
    #expect(claims.table.rivals(of: Self.path).count == PathClaims.rivalLimit)
    for slot in 2...20 { claims.leave(slot) }
    #expect(claims.owner == 1 && claims.table.contestedCount == 0)
    claims.leave(1)
    #expect(claims.owner == nil && claims.table.count == 0)
  }

  @Test
  func
    `who is pushed out by many unproven claims is known to be, and takes the path by claiming it once more`()
  {
    let claims = Claims()
    claims.enter(1)
    for slot in 2...9 { claims.enter(slot) }
    #expect(claims.holds(1))
    claims.enter(10)
    #expect(!claims.holds(1) && claims.owner == 10)
    claims.enter(1)
    #expect(claims.holds(1) && claims.owner == 1)
  }

  @Test func `proof takes a path, and it is given back when the one that took it goes`() {
    let claims = Claims()
    claims.enter(1, proven: true)
    claims.enter(2)
    #expect(claims.owner == 1)
    claims.enter(2, proven: true)
    #expect(claims.owner == 2)
    // Said once more: it is no news.
    claims.enter(1, proven: true)
    #expect(claims.owner == 2)
    claims.leave(2)
    #expect(claims.owner == 1 && claims.table.contestedCount == 0)
  }

  @Test func `a path whose owner has lost its proof goes to a peer that has it`() {
    let claims = Claims()
    claims.enter(1, proven: true)
    claims.enter(2, proven: true)
    claims.enter(2, proven: false)
    #expect(claims.owner == 1)
    claims.enter(1, proven: false)
    #expect(claims.owner == 1)
    claims.enter(3)
    #expect(claims.owner == 3, "the latest, where nothing is proven")
    claims.leave(3)
    #expect(claims.owner == 1)
  }

  @Test func `a full table takes rivals and no new paths`() {
    let claims = Claims(limit: 2)
    #expect(claims.enter(1) && claims.enter(1, on: Self.path(2)))
    #expect(!claims.enter(1, on: Self.path(3)))
    #expect(claims.enter(2))
    #expect(claims.table.count == 2)
  }

  /// Whatever is said: a path whose owner has proven nothing has no rival that has, and nothing stays without a claim.
  @Test func `through random claims a proven path is never an unproven one's`() {
    for seed in 1...20 as ClosedRange<UInt64> {
      let claims = Claims()
      var random = RandomSource.seeded(state: seed)
      var model: [Int: Bool] = [:]
      for _ in 0..<2_000 {
        let slot = Int(random.next() % 6)
        if random.next() % 4 == 0 {
          claims.leave(slot)
          model[slot] = nil
        } else {
          let isProven = random.next() % 2 == 0
          claims.enter(slot, proven: isProven)
          model[slot] = isProven
        }
        #expect((claims.owner == nil) == model.isEmpty)
        if let owner = claims.owner, model.values.contains(true) { #expect(model[owner] == true) }
        #expect(claims.table.rivals(of: Self.path).count == max(model.count - 1, 0))
      }
    }
  }
}
