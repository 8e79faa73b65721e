import Model
import SyntheticPeers
import Testing

@testable import Simulation

/// A meeting on laptops and phones, some of them on paths that are narrow and lose packets.
@Suite("A meeting", .timeLimit(.minutes(2)))
struct MeetingTests {
  @Test func `thirty people have paths of each kind, four have pictures, and all have sound`() {
    for seed in 1...20 as ClosedRange<UInt64> {
      let plan = LayerPlan(meeting: seed, people: 30, span: .seconds(30))
      #expect(plan.publishers.count == 4 && plan.viewers.count == 26 && plan.isMeeting && !plan.isRebuilt)
      #expect(plan.span == .seconds(30))
      #expect(plan.publishers.allSatisfy { $0.isSimulcast && $0.obeysPublish && $0.encodings.count == 3 })
      #expect(plan.viewers.allSatisfy { $0.speaks && $0.dialect.tellsArrivals && $0.viewsEvery != nil })
      let poor = plan.viewers.filter { $0.capacities.map(\.rate) == [800_000] && $0.loss == 0.05 }
      #expect(poor.count == 7 && poor.allSatisfy { $0.isPhone && $0.delay == 80_000_000 })
      #expect(plan.viewers.contains { $0.capacities.map(\.rate) == [2_000_000] && $0.loss == 0.01 })
      #expect(plan.viewers.contains { $0.queue == 300_000_000 && $0.loss == 0 })
      #expect(plan.viewers.contains { $0.capacities.map(\.rate) == [20_000_000] && $0.loss == 0 })
      let known = [3, 4, 29, 30].map { plan.viewer($0) != nil }
      #expect(known == [false, true, true, false])
    }
    #expect(LayerPlan(meeting: 1, people: 4, span: .seconds(30)).publishers.count == 2)
  }

  /// What `roost-simulate --meeting 30` shows, of six people in a few seconds.
  @Test func `six people hear and see each other, on each kind of path`() throws {
    var options = Conference.Options.repeatable
    options.meeting = 6
    options.duration = .seconds(16)
    let outcome = try Conference.runAll(seed: 1, options: options)
    #expect(outcome.violations == [])
    let counts = outcome.mechanisms
    #expect(counts[.connected] == 6 && counts[.packetLost] > 0 && counts[.viewChanged] > 0)
    #expect(counts[.soundJudged] > 0 && counts[.budgetJudged] > 0 && counts[.movingJudged] > 0)
    // Each hears up to three of the others, 50 packets a second.
    #expect(counts[.packetForwarded] > 6_000)
  }

  @Test func `a meeting stands alone, whatever its seed has beside`() throws {
    var options = Conference.Options.repeatable
    options.meeting = 4
    options.duration = .seconds(5)
    // Of a seed that has a conference on narrow paths beside.
    let outcome = try Conference.runAll(seed: 2, options: options)
    #expect(outcome.mechanisms[.join] == 4 && !outcome.digest.contains("+"))
  }
}
