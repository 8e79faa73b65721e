import CFloor
import Dispatch
import Foundation
import Load
import Synchronization

/// The whole server, as a process of its own, under the synthetic participants of `roost-load`, and beside it the plain C
/// server at the same arrivals.
///
/// What it uses of processors is read over the span in which everybody is in; what the participants use is no part of
/// it, although they share the machine. What the kernel does on behalf of a send is the sender's: on loopback that
/// includes the way into the receiver's socket, so for both the figure is more than on a network card.
enum ServerBench {
  /// Loss, and what may lie between two ways to count, before a row means nothing.
  static let lossLimit = 0.001
  static let countLimit = 0.01
  /// As the first, where participants say what arrives: video is left out for as long as a path isn't known to carry it.
  static let leftOutLimit = 0.02
  /// Seconds in which paths are found, before what they cost is measured.
  static let settle = 6
  /// Of each participant who says what arrives.
  static let reportsPerSecond = 10.0

  /// - Parameter tellsArrivals: participants say when each packet arrived, every 100 ms.
  static func measure(
    _ scenario: ServerScenario, _ options: ServerOptions, tellsArrivals: Bool = false
  ) throws(BenchError) -> ServerResult {
    let roost = try RoostProcess(options.roost, workers: options.workers)
    defer { roost.end() }
    let trace = ArrivalTrace()
    let sampler = Sampler(roost)
    let report: LoadReport
    do {
      var load = load(scenario, options, roost)
      load.feedback.tellsArrivals = tellsArrivals
      load.feedback.settle = options.comparesFeedback ? settle : 0
      load.feedback.interval = .seconds(1 / reportsPerSecond)
      let run = try LoadRun(load, say: { _ in })
      run.observer.began = {
        sampler.begin()
        trace.begin()
      }
      run.observer.ended = {
        sampler.end()
        trace.end()
      }
      run.observer.sent = { trace.note($0, $1) }
      report = try run.run()
    } catch { throw .setup("no load: \(error)") }
    guard let (sent, time) = sampler.difference else { throw .setup("the server gave no figures") }
    roost.end()

    var result = ServerResult(scenario: scenario.name, seconds: report.seconds)
    result.keepsToPaths = tellsArrivals
    result.sent = sent
    result.delivered = report.arrivedFirstTime + report.recovered
    result.server = ServerResult.Cost(time, packets: result.delivered)
    result.note(report)
    let floor = try FloorReplay(trace, scenario).run()
    result.floorDelivered = floor.delivered
    result.floor = ServerResult.Cost(
      ProcessorTime(total: floor.tally.user + floor.tally.system, system: floor.tally.system),
      packets: floor.delivered)
    result.note(floor)
    return result
  }

  private static func load(
    _ scenario: ServerScenario, _ options: ServerOptions, _ roost: RoostProcess
  ) -> LoadOptions {
    var load = LoadOptions()
    load.url = "ws://127.0.0.1:\(roost.port)"
    load.media = "127.0.0.1:\(roost.mediaPort)"
    load.rooms = scenario.rooms
    load.publishers = scenario.publishers
    load.subscribers = scenario.subscribers
    load.isMesh = scenario.isMesh
    load.picture.bitrate = 1_500_000
    load.hasAudio = true
    load.duration = options.seconds
    load.output.isQuiet = true
    return load
  }

  /// Reads the server's figures on a thread of its own, so that the participants aren't held up.
  private final class Sampler: Sendable {
    private struct Samples {
      var sent: [Int?] = []
      var times: [ProcessorTime?] = []
    }

    private let queue = DispatchQueue(label: "sampler")
    private let samples = Mutex(Samples())
    private let process: pid_t
    private let counter: @Sendable () -> Int?

    init(_ roost: RoostProcess) {
      process = roost.identifier
      let port = roost.adminPort
      counter = { RoostProcess.counter("roost_sent_packets_total", adminPort: port) }
    }

    /// What it costs to tell is outside of the span.
    func begin() {
      queue.async { [self] in
        let count = counter()
        samples.withLock { [process] samples in
          samples.sent.append(count)
          samples.times.append(ProcessorTime(of: process))
        }
      }
    }

    func end() {
      queue.async { [self] in
        let time = ProcessorTime(of: process)
        let count = counter()
        samples.withLock {
          $0.times.append(time)
          $0.sent.append(count)
        }
      }
    }

    var difference: (sent: Int, time: ProcessorTime)? {
      queue.sync {}
      return samples.withLock { samples in
        guard samples.sent.count == 2, let first = samples.sent[0], let last = samples.sent[1],
          let from = samples.times[0], let to = samples.times[1]
        else { return nil }
        return (last - first, to - from)
      }
    }
  }
}
