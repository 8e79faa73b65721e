import Model
import Testing

@testable import Congestion

/// The cases of RFC 8867 §5 by their names, with its capacities and times, and a source that always has as much to send as it may.
///
/// The RFC says in words what it expects: that flows come to the capacity, and to its changes, without going back and forth, that they share
/// it fairly, and that no queue stands. It gives no figures. So the same are held everywhere: `use` and `longestWait` of the bottleneck,
/// and `fair`. Beside TCP (5.6, 5.7) it is TCP that fills the queue, and the share is what is looked at.
@Suite("RFC 8867", .timeLimit(.minutes(5)))
struct RFC8867Tests {
  /// As §5 has it unless a case says otherwise.
  private func path(_ rate: Double, delay: Int = 50, loss: Double = 0, seed: UInt64 = 1) -> Bottleneck {
    Bottleneck(
      rate: rate, delay: .milliseconds(delay), queue: .milliseconds(300), loss: loss, seed: seed)
  }

  /// Of the capacity: nothing above it, which a queue would have to hold, and what a few per cent below it, left for the queue to drain,
  /// and the way back from a cut to 0.85 leave on average. Runs that are printed as figures lie at 0.88–0.97.
  private static let use = 0.85...1.0
  /// Milliseconds in the queue, of nineteen packets of twenty: a third of what it holds.
  private static let longestWait = 100.0
  /// By Jain's index, at least.
  private static let fair = 0.9

  private func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }
  private func whole(_ wait: Double) -> String { "\(Int(wait.rounded())) ms" }

  /// How evenly it is shared: 1 where all get the same (RFC 5166 §2.5.1).
  private func jain(_ rates: [Double]) -> Double {
    let sum = rates.reduce(0, +)
    return sum * sum / (Double(rates.count) * rates.reduce(0) { $0 + $1 * $1 })
  }

  @Test(arguments: [0.0, 0.02])
  func `5·1 variable available capacity with a single flow`(loss: Double) throws {
    let path = path(1e6, loss: loss)
    let flow = MediaFlow(path)
    run(.seconds(100), [flow]) { second in
      path.rate = second < 40 ? 1e6 : second < 60 ? 2.5e6 : second < 80 ? 0.6e6 : 1e6
    }
    let up = try #require(flow.reaches(0.85 * 2.5e6, from: 40)) - 40
    let again = try #require(flow.reaches(0.85 * 1e6, from: 80)) - 80
    let shares = [
      flow.mean(20...40) / 1e6, flow.mean(50...60) / 2.5e6, flow.mean(64...80) / 0.6e6,
      flow.mean(90...100) / 1e6,
    ]
    let waits = [flow.wait(20...40), flow.wait(40...60), flow.wait(63...80), flow.wait(80...100)]
    print(
      "figure: RFC 8867 5.1 loss \(percent(loss)): target \(shares.map(percent)), queue p95 \(waits.map(whole)), up in \(up) s and \(again) s"
    )
    #expect(shares.allSatisfy { Self.use.contains($0) })
    #expect(waits.allSatisfy { $0 < Self.longestWait })
    #expect(up <= 10 && again <= 10)
  }

  @Test func `5·2 variable available capacity with multiple flows`() {
    let path = path(4e6)
    let flows = [MediaFlow(path), MediaFlow(path, seed: 8)]
    run(.seconds(125), flows) { second in
      path.rate = second < 25 ? 4e6 : second < 50 ? 2e6 : second < 75 ? 3.5e6 : second < 100 ? 1e6 : 2e6
    }
    let spans: [(ClosedRange<Double>, Double)] = [
      (10...25, 4e6), (30...50, 2e6), (60...75, 3.5e6), (80...100, 1e6), (110...125, 2e6),
    ]
    let shares = spans.map { span in flows.reduce(0) { $0 + $1.mean(span.0) } / span.1 }
    let waits = spans.map { flows[0].wait($0.0) }
    let fairness = jain(flows.map { $0.mean(65...125) })
    print(
      "figure: RFC 8867 5.2: together \(shares.map(percent)), queue p95 \(waits.map(whole)), Jain \(fairness)"
    )
    #expect(shares.allSatisfy { Self.use.contains($0) })
    #expect(waits.allSatisfy { $0 < Self.longestWait })
    #expect(fairness > Self.fair)
  }

  @Test func `5·3 congested feedback link with bidirectional media flows`() {
    let (there, back) = (path(2e6), path(2e6, seed: 2))
    let flows = [MediaFlow(there, back: back), MediaFlow(back, back: there, seed: 8)]
    run(.seconds(100), flows) { second in
      there.rate = second < 20 ? 2e6 : second < 40 ? 1e6 : second < 60 ? 0.5e6 : 2e6
      back.rate = second < 35 ? 2e6 : second < 70 ? 0.8e6 : 2e6
    }
    let shares = [
      flows[0].mean(10...20) / 2e6, flows[0].mean(25...40) / 1e6, flows[0].mean(45...60) / 0.5e6,
      flows[0].mean(75...100) / 2e6, flows[1].mean(10...35) / 2e6, flows[1].mean(45...70) / 0.8e6,
      flows[1].mean(80...100) / 2e6,
    ]
    let waits = [
      flows[0].wait(10...20), flows[0].wait(23...40), flows[0].wait(43...60), flows[0].wait(60...100),
      flows[1].wait(10...35), flows[1].wait(38...70), flows[1].wait(70...100),
    ]
    print("figure: RFC 8867 5.3: target \(shares.map(percent)), queue p95 \(waits.map(whole))")
    // Feedback takes its part of the way back, one or two per cent.
    #expect(shares.allSatisfy { Self.use.contains($0) })
    #expect(waits.allSatisfy { $0 < Self.longestWait })
  }

  @Test func `5·4 competing media flows with the same congestion control algorithm`() {
    let path = path(3.5e6)
    let flows = [0, 20, 40].map { MediaFlow(path, start: .seconds($0), seed: UInt64($0)) }
    run(.seconds(120), flows)
    let rates = flows.map { $0.mean(60...120) }
    let share = rates.reduce(0, +) / 3.5e6
    print(
      "figure: RFC 8867 5.4: together \(percent(share)), queue p95 \(whole(flows[0].wait(60...120))), Jain \(jain(rates))"
    )
    #expect(Self.use.contains(share))
    #expect(flows[0].wait(60...120) < Self.longestWait)
    #expect(jain(rates) > Self.fair)
  }

  @Test func `two on one bottleneck get the same over the last minute`() {
    let path = path(3e6, delay: 25)
    let flows = [MediaFlow(path), MediaFlow(path, start: .seconds(10), seed: 8)]
    run(.seconds(120), flows)
    let rates = flows.map { $0.mean(60...120) }
    print("figure: two on one bottleneck: Jain \(jain(rates)), together \(percent(rates.reduce(0, +) / 3e6))")
    #expect(jain(rates) > Self.fair)
  }

  @Test func `5·5 round-trip time fairness`() {
    let path = path(4e6, delay: 10)
    let flows = [0, 15, 40, 90, 140].enumerated().map { index, further in
      MediaFlow(
        path, further: .milliseconds(further), start: .seconds(index * 5), seed: UInt64(index) + 1)
    }
    run(.seconds(300), flows)
    let rates = flows.map { $0.mean(240...300) }
    let share = rates.reduce(0, +) / 4e6
    print(
      "figure: RFC 8867 5.5: together \(percent(share)), each \(rates.map { percent($0 / 4e6) }), queue p95 \(whole(flows[0].wait(240...300))), Jain \(jain(rates))"
    )
    #expect(Self.use.contains(share))
    // The longest round trip is fifteen times the shortest; each has at least half of a fifth all the same.
    #expect(rates.allSatisfy { $0 >= 0.1 * 4e6 } && jain(rates) > Self.fair)
    #expect(flows[0].wait(240...300) < Self.longestWait)
  }

  @Test(arguments: [1e6, 2e6])
  func `5·6 media flow competing with a long TCP flow`(rate: Double) {
    let path = path(rate)
    let flow = MediaFlow(path, start: .seconds(5))
    run(.seconds(120), [flow], [Download(path, start: .zero)])
    let share = flow.mean(30...120) / rate
    print(
      "figure: RFC 8867 5.6 \(Int(rate / 1e3)) kbit/s beside CUBIC: \(percent(share)) of the link, queue p95 \(whole(flow.wait(30...120)))"
    )
    #expect(share >= 0.1)
  }

  @Test func `5·7 media flow competing with short TCP flows`() {
    let path = path(2e6)
    let flow = MediaFlow(path)
    var random = RandomSource.seeded(state: 57)
    var downloads: [Download] = []
    // Ten who each fetch 30 to 50 kB, and wait about 10 s in between.
    for _ in 0..<10 {
      var moment = 0.0
      while moment < 120 {
        moment += 2 + Double(random.next() % 16_000) / 1e3
        downloads.append(
          Download(
            path, start: .milliseconds(Int64(moment * 1e3)), size: 30_000 + Int(random.next() % 20_000)))
      }
    }
    run(.seconds(120), [flow], downloads)
    let share = flow.mean(30...120) / 2e6
    print(
      "figure: RFC 8867 5.7 beside short CUBIC flows: \(percent(share)) of the link, queue p95 \(whole(flow.wait(30...120)))"
    )
    #expect(share >= 0.1)
  }

  @Test func `5·8 media pause and resume`() {
    let path = path(3.5e6)
    let flows = (0..<3).map { MediaFlow(path, seed: $0) }
    run(.seconds(120), flows) { second in flows[0].isPaused = second >= 40 && second < 60 }
    let others = (flows[1].mean(50...60) + flows[2].mean(50...60)) / 3.5e6
    let rates = flows.map { $0.mean(80...120) }
    let share = rates.reduce(0, +) / 3.5e6
    print(
      "figure: RFC 8867 5.8: others meanwhile \(percent(others)), afterwards together \(percent(share)), queue p95 \(whole(flows[0].wait(60...120))), Jain \(jain(rates))"
    )
    #expect(Self.use.contains(others) && Self.use.contains(share))
    #expect(flows[0].wait(60...120) < Self.longestWait)
    #expect(jain(rates) > Self.fair)
  }
}
