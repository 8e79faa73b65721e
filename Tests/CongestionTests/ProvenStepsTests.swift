import Model
import Testing

@testable import Congestion

/// Before an upgrade a probe to its rate: nothing better is shown whose rate, with all else, was never shown to arrive.
@Suite("Steps up are proven before", .timeLimit(.minutes(2)))
struct ProvenStepsTests {
  private func path(_ rate: Double, loss: Double = 0) -> Bottleneck {
    Bottleneck(rate: rate, delay: .milliseconds(20), queue: .milliseconds(300), loss: loss)
  }

  private func subscriber(_ path: Bottleneck, _ layers: [Double]) -> LayeredSubscriber {
    LayeredSubscriber(path, layers: layers, canProbe: true)
  }

  @Test(arguments: [0.3e6, 0.7e6, 1e6, 1.3e6, 2e6, 4e6, 20e6])
  func `on a path of one rate each step is to what a probe or the media has shown`(rate: Double) {
    let layers = [150e3, 500e3, 1_500e3, 4_000e3]
    let subscriber = subscriber(path(rate), layers)
    subscriber.run(.seconds(60))
    print(
      "figure: steps on \(Int(rate / 1e3)) kbit/s: \(subscriber.judge.steps), shown \(subscriber.shown.map { layers[$0] } ?? 0)"
    )
    #expect(subscriber.judge.problems == [])
    #expect(subscriber.judge.steps > 0)
    // Sound takes 60 kbit/s.
    if let shown = subscriber.shown { #expect(layers[shown] + 60e3 <= rate) }
    if rate == 20e6 { #expect(subscriber.shown == 3) }
  }

  @Test func `where a path gets wider it is gone up to once a probe has shown that`() {
    let path = path(0.7e6)
    let subscriber = subscriber(path, [150e3, 500e3, 1_500e3])
    subscriber.run(.seconds(20))
    let before = subscriber.judge.probed
    #expect(subscriber.shown != 2 && before < 1.5e6, "\(before)")
    path.rate = 6e6
    subscriber.run(.seconds(60))
    #expect(subscriber.shown == 2 && subscriber.judge.probed > 1.56e6)
    #expect(subscriber.judge.problems == [])
  }

  @Test func `on a path that loses packets at random, and behind an outage, it is no other`() {
    for loss in [0.02, 0.1] {
      let subscriber = subscriber(path(2.5e6, loss: loss), [150e3, 500e3, 1_500e3])
      subscriber.run(.seconds(60))
      #expect(subscriber.judge.problems == [], "\(loss)")
    }
    let subscriber = subscriber(path(2e6), [150e3, 500e3])
    subscriber.run(.seconds(10))
    subscriber.isOut = true
    subscriber.run(.seconds(10))
    subscriber.isOut = false
    subscriber.run(.seconds(60))
    #expect(subscriber.judge.problems == [] && subscriber.shown != nil)
  }

  /// The runs of a path that can't be probed, where a step is the only probe there is.
  @Test func `who shows more without a probe is found`() {
    let subscriber = LayeredSubscriber(path(20e6), layers: [150e3, 500e3, 1_500e3])
    subscriber.run(.seconds(60))
    #expect(subscriber.judge.probed == 0 && subscriber.shown == 2)
    #expect(subscriber.judge.problems.count >= 1)
  }

  @Test
  func `a probe shows what it arrived at, whatever it was to be, and media what half a second of it is`() {
    var judge = StepJudge()
    judge.planned(ProbePlan(cluster: 1, rate: 3e6, packets: 8, bytes: 9_600))
    // A packet of 1,200 bytes every 8 ms: 1.2 Mbit/s.
    for index in 0..<8 { judge.arrived(1_200, cluster: 1, at: Int64(index) * 8_000_000) }
    #expect(abs(judge.probed - 1.2e6) < 1)
    judge.planned(ProbePlan(cluster: 2, rate: 1e6, packets: 8, bytes: 9_600))
    for index in 0..<8 { judge.arrived(1_200, cluster: 2, at: 5_000_000_000 + Int64(index) * 1_000_000) }
    #expect(abs(judge.probed - 1.2e6) < 1, "it was planned as less")
    judge.stepped(to: 1.1e6, second: 5)
    #expect(judge.problems == [])
    judge.stepped(to: 1.3e6, second: 6)
    #expect(judge.problems.count == 1 && judge.steps == 2)
    // 2 Mbit/s for a second.
    for index in 0..<1_000 { judge.arrived(250, cluster: 0, at: 9_000_000_000 + Int64(index) * 1_000_000) }
    #expect(judge.acknowledged > 2e6 && judge.acknowledged < 2.3e6, "\(judge.acknowledged)")
    judge.stepped(to: 2e6, second: 10)
    #expect(judge.problems.count == 1)
  }
}
