import Model
import Testing

@testable import Congestion

/// The promises of the estimator over a simulated path, with a source that sends as much as it may.
@Suite("What a path carries", .timeLimit(.minutes(5)))
struct BandwidthEstimatorTests {
  static let paths: [(rate: Double, trip: Int, loss: Double)] = [
    (500e3, 50, 0), (500e3, 200, 0), (500e3, 200, 0.02), (1e6, 50, 0), (1e6, 200, 0), (1e6, 50, 0.02),
    (3e6, 20, 0.01), (3e6, 100, 0.02),
    (8e6, 50, 0),
    (8e6, 200, 0.01),
  ]

  @Test(arguments: paths)
  func `the target comes near to the capacity, with a short queue`(rate: Double, trip: Int, loss: Double) {
    let path = Bottleneck(rate: rate, delay: .milliseconds(trip / 2), queue: .milliseconds(300), loss: loss)
    let flow = MediaFlow(path)
    run(.seconds(90), [flow])
    let share = flow.mean(30...90) / rate
    let wait = flow.wait(30...90)
    print(
      "figure: path \(Int(rate / 1e3)) kbit/s, \(trip) ms, \(loss * 100) %: target \(share), queue p95 \(wait) ms"
    )
    #expect(share >= 0.85 && share <= 1.05 && wait < 100)
  }

  @Test(arguments: [100e3, 200e3, 300e3, 400e3])
  func `below half a megabit a tenth of the path is had, with a delay that is printed`(rate: Double) {
    let path = Bottleneck(rate: rate, delay: .milliseconds(25), queue: .milliseconds(300), loss: 0)
    let flow = MediaFlow(path)
    run(.seconds(90), [flow])
    let share = flow.mean(30...90) / rate
    print("figure: path \(Int(rate / 1e3)) kbit/s: target \(share), queue p95 \(flow.wait(30...90)) ms")
    #expect(share >= 0.1 && share <= 1.05)
  }

  @Test(arguments: [(250e3, 0.0), (300e3, 0.05)])
  func `a narrow path with two seconds of queue is found within seven seconds`(rate: Double, loss: Double) {
    let path = Bottleneck(rate: rate, delay: .milliseconds(25), queue: .seconds(2), loss: loss)
    let flow = MediaFlow(path)
    run(.seconds(20), [flow])
    print("figure: two seconds of queue, \(Int(rate / 1e3)) kbit/s: \(flow.mean(7...20) / rate)")
    #expect(flow.mean(7...20) <= 1.1 * rate)
  }

  @Test(arguments: [(0.10, 0.5), (0.20, 0.2)])
  func `much is lost whatever is sent, and the rate holds`(loss: Double, least: Double) {
    let path = Bottleneck(rate: 1e6, delay: .milliseconds(25), queue: .milliseconds(300), loss: loss)
    let flow = MediaFlow(path)
    run(.seconds(90), [flow])
    print("figure: loss of \(loss * 100) %, target as a share: \(flow.mean(30...90) / 1e6)")
    #expect(flow.mean(30...90) >= least * 1e6)
  }

  @Test func `a step down is answered within three seconds, a step up within ten`() throws {
    let path = Bottleneck(rate: 3e6, delay: .milliseconds(25), queue: .milliseconds(300))
    let flow = MediaFlow(path)
    run(.seconds(100), [flow]) { second in path.rate = second >= 40 && second < 70 ? 1e6 : 3e6 }
    print(
      "figure: step down: queue p95 \(flow.wait(43...70)) ms, up at \(flow.reaches(0.85 * 3e6, from: 70) ?? -1)"
    )
    for second in stride(from: 43.0, to: 70, by: 1) { #expect(flow.wait(second...second + 1) < 100) }
    let up = try #require(flow.reaches(0.85 * 3e6, from: 70))
    #expect(up <= 80)
  }

  @Test func `two on one path get the same`() {
    let path = Bottleneck(rate: 3e6, delay: .milliseconds(25), queue: .milliseconds(300))
    let flows = [MediaFlow(path), MediaFlow(path, start: .seconds(10))]
    run(.seconds(150), flows)
    let rates = flows.map { $0.mean(90...150) }
    let sum = rates.reduce(0, +)
    let jain = sum * sum / (2 * rates.reduce(0) { $0 + $1 * $1 })
    print(
      "figure: two on one path: Jain \(jain), together \(sum / 3e6) of the capacity, queue p95 \(flows[0].wait(90...150))"
    )
    #expect(jain > 0.9)
  }

  @Test func `on twenty megabits the top is there within three seconds`() throws {
    let path = Bottleneck(rate: 20e6, delay: .milliseconds(20), queue: .milliseconds(200))
    let flow = MediaFlow(path, most: 3e6)
    run(.seconds(10), [flow])
    let reached = try #require(flow.reaches(3e6 * 0.95, from: 0))
    print(
      "figure: top layer on 20 Mbit/s: at \(reached) s, padding \(Double(flow.padding) / Double(flow.sentBytes))"
    )
    #expect(reached <= 3)
  }

  @Test func `beside a download a tenth is left`() {
    let path = Bottleneck(rate: 2e6, delay: .milliseconds(25), queue: .milliseconds(300))
    let flow = MediaFlow(path)
    let download = Download(path, start: .seconds(20))
    run(.seconds(120), [flow], [download])
    print(
      "figure: beside one download by CUBIC: \(flow.mean(60...120) / 2e6) of the link, queue \(flow.wait(60...120)) ms"
    )
    #expect(flow.mean(60...120) >= 0.1 * 2e6)
  }

  @Test func `without feedback the rate falls by a fifth every half second`() {
    let path = Bottleneck(rate: 3e6, delay: .milliseconds(25), queue: .milliseconds(300))
    let flow = MediaFlow(path)
    run(.seconds(30), [flow]) { second in flow.isDeaf = second >= 20 }
    let before = flow.mean(19...20)
    let after = flow.mean(23...23.1)
    print("figure: without feedback, bits a second before and after 3 s: \(before) \(after)")
    #expect(after < before * 0.6 && after > before * 0.2)
  }
}
