import Model
import SyntheticPeers
import Testing

@testable import Simulation

@Suite("A conference on a virtual clock", .timeLimit(.minutes(2)))
struct ConferenceTests {
  /// Each seed includes a participant with a slow sound card.
  @Test(arguments: [(1, 1), (2, 8), (4, 4)] as [(Int, UInt64)])
  func `in calm weather everybody hears and sees everybody`(workers: Int, seed: UInt64) throws {
    var options = Conference.Options()
    options.weather = false
    options.peers = 4
    options.duration = .seconds(6)
    options.workers = workers
    options.rooms = 1
    options.isHeavy = false
    let outcome = try Conference(seed: seed, options: options).run()
    #expect(outcome.violations == [])
    #expect(outcome.mechanisms[.connected] == 4)
    #expect(outcome.mechanisms[.lipSyncChecked] > 0)
    #expect(outcome.mechanisms[.lipSyncSlowSound] > 0)
    #expect((outcome.mechanisms[.relay] > 0) == (workers > 1))
    // Four publishers, three subscribers each, a hundred packets a second for nearly five seconds.
    #expect(outcome.mechanisms[.packetForwarded] > 4_000)
    #expect(outcome.mechanisms[.pictureCompared] >= 8 && outcome.mechanisms[.farewell] == 4)
    // The seed has it how all ends.
    #expect((outcome.mechanisms[.leave] == 4) == (workers == 1))
    #expect((outcome.mechanisms[.drain] == 1) == (workers == 2))
    #expect((outcome.mechanisms[.roomClosed] == 1) == (workers == 4))
  }

  @Test func `nothing passes from one room to another`() throws {
    var options = Conference.Options()
    options.weather = false
    options.peers = 6
    options.rooms = 3
    options.duration = .seconds(6)
    let outcome = try Conference(seed: 1, options: options).run()
    #expect(outcome.violations == [])
    #expect(outcome.mechanisms[.connected] == 6 && outcome.mechanisms[.otherRoom] == 5)
    // In each room one subscriber for each of two publishers.
    #expect((1_500...4_500).contains(outcome.mechanisms[.packetForwarded]))
  }

  @Test func `a seed decides of rooms, workers, rates and the end`() {
    let plans = (1...30).map { Plan(seed: $0, options: Conference.Options()) }
    #expect(Set(plans.map(\.workers)) == [2, 4] && Set(plans.map(\.rooms)) == [1, 2, 3])
    #expect(plans.count { $0.isHeavy } == 3 && plans.allSatisfy { $0.isHeavy == ($0.peers == 4) })
    for ending in Plan.Ending.allCases { #expect(plans.count { $0.ending == ending } == 10) }
    var options = Conference.Options()
    options.workers = 1
    options.rooms = 4
    options.isHeavy = true
    let plan = Plan(seed: 1, options: options)
    #expect(plan.workers == 1 && plan.rooms == 4 && plan.isHeavy && plan.neighbours == 1)
  }

  @Test(arguments: [71, 83] as [UInt64])
  func `who comes by WHIP and WHEP is a participant like the others`(seed: UInt64) throws {
    var options = Conference.Options.repeatable
    options.traces = true
    let outcome = try Conference(seed: seed, options: options).run()
    #expect(outcome.violations == [])
    #expect(outcome.trace.contains { $0.contains("by an offer alone") })
    #expect(outcome.mechanisms[.separateTransports] == 1)
    #expect(try Conference(seed: seed, options: options).run().digest == outcome.digest)
    let plans = (1...120).map { Plan(seed: $0, options: Conference.Options()) }
    #expect(!plans[..<60].contains(where: \.hasStandalone) && plans.count(where: \.hasStandalone) == 5)
  }

  @Test func `what happens is traced if that is wanted`() throws {
    var options = Conference.Options()
    options.weather = false
    options.peers = 2
    options.duration = .seconds(4)
    options.traces = true
    options.rooms = 1
    let outcome = try Conference(seed: 3, options: options).run()
    #expect(outcome.trace.contains { $0.contains(": 1 joins room-0 as person-1") })
    #expect(outcome.trace.contains { $0.hasSuffix(": 0 leaves") })
  }
}
