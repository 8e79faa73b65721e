import Model
import Testing

@testable import Congestion

/// A subscriber that reports arrivals and takes no retransmission stream, so that nothing can be sent to probe with.
@Suite("A path that can't be probed", .timeLimit(.minutes(2)))
struct UnprobedPathTests {
  @Test func `after an outage pictures come back, from the cheapest to the best`() throws {
    let subscriber = LayeredSubscriber(
      Bottleneck(rate: 2e6, delay: .milliseconds(20), queue: .milliseconds(300)), layers: [150e3, 500e3])
    subscriber.run(.seconds(10))
    #expect(subscriber.shown == 1)
    subscriber.isOut = true
    subscriber.run(.seconds(10))
    #expect(subscriber.shown == nil)
    subscriber.isOut = false
    subscriber.run(.seconds(60))
    let first = try #require(subscriber.rises.first(where: { $0 > 20 }))
    print("figure: without probes, pictures are back \(subscriber.rises.map { $0 - 20 }) s behind an outage")
    #expect(first <= 45 && subscriber.shown == 1)
  }

  @Test(arguments: [120e3, 180e3])
  func `a path that carries no picture is tried again ever more seldom`(rate: Double) {
    let subscriber = LayeredSubscriber(
      Bottleneck(rate: rate, delay: .milliseconds(20), queue: .milliseconds(300)), layers: [150e3])
    subscriber.run(.seconds(180))
    print("figure: without probes, tried in vain at \(subscriber.rises) s on \(rate) bit/s")
    // It is tried at all.
    #expect((2...7).contains(subscriber.rises.count))
    #expect(zip(subscriber.rises, subscriber.rises.dropFirst()).allSatisfy { $1 - $0 >= 8 })
    let waits = subscriber.waits.sorted()
    #expect(waits[waits.count * 95 / 100] < 100)
  }

  @Test func `a better layer that isn't carried is tried no more often than its wait allows`() {
    let subscriber = LayeredSubscriber(
      Bottleneck(rate: 400e3, delay: .milliseconds(20), queue: .milliseconds(300)), layers: [150e3, 500e3])
    subscriber.run(.seconds(180))
    #expect(subscriber.rises.count <= 8 && subscriber.shown != nil)
    #expect(zip(subscriber.rises, subscriber.rises.dropFirst()).allSatisfy { $1 - $0 >= 8 })
  }

  @Test func `each try in vain doubles the wait, up to a minute, and one that lasts ends that`() {
    func at(_ second: Double) -> Instant { Instant(nanoseconds: Int64(second * 1e9)) }
    var untried = UntriedRate()
    #expect(untried.mayRise(now: at(0)))
    var second = 0.0
    for wait in [16.0, 32, 60, 60] {
      untried.note(from: 90e3, to: 95e3, isUntried: true, now: at(second))
      // A little less is no fall.
      untried.note(from: 95e3, to: 91e3, isUntried: true, now: at(second + 1))
      #expect(untried.mayRise(now: at(second + 1)))
      untried.note(from: 91e3, to: 80e3, isUntried: false, now: at(second + 2))
      #expect(!untried.mayRise(now: at(second + 1.9 + wait)))
      second += 2 + wait
      #expect(untried.mayRise(now: at(second)))
    }
    untried.note(from: 90e3, to: 95e3, isUntried: true, now: at(second))
    untried.note(from: 95e3, to: 80e3, isUntried: false, now: at(second + 41))
    #expect(!untried.mayRise(now: at(second + 48.9)) && untried.mayRise(now: at(second + 49)))
  }
}
