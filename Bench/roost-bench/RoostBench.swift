import Foundation

/// Measures what Roost costs beside what it has to cost. See docs/performance.md.
@main
enum RoostBench {
  static let usage = """
    usage: roost-bench [forward] [--subscribers N] [--size B] [--packets P] [--accept]
           roost-bench server [--scenario S] [--seconds N] [--workers N] [--roost PATH] [--json] [--accept] [--feedback]

      Without a word: both.

      forward        one publisher's packets through a worker's core to N subscribers, beside a plain C loop
      --subscribers  1–64; without it 1, 5 and 20
      --size         bytes of a packet in plain text, 64–1400; without it 1100 and 100
      --packets      packets of each measurement, at least 1024; without it 20000

      server         the server as a process of its own under synthetic participants (video of 1.5 Mbit/s and sound
                     from each publisher): its processor time for each delivered packet, user and kernel together,
                     beside that of a plain C server which opens each packet once, seals it for everybody and sends
                     with GSO, at the same arrivals. Participants share the machine and are no part of the figure. A
                     row with losses is marked as not valid.
      --scenario     1-20, 1-100 or 4x4 (four rooms of four, who all publish and receive); without it each
      --seconds      that are measured once everybody is in; without it 8
      --workers      of the server; without it 2
      --roost        the server's executable; without it the one beside this program
      --feedback     instead: three times by turns with participants who say every 100 ms when each packet arrived, and
                     with such that don't; what the first take more, as rows
      --json         the figures as JSON

      --accept       prints rows `line | wanted | seen`, the table to standard error; ends with 1 if a row is short

    """

  static func main() {
    if CommandLine.arguments.dropFirst().contains(where: { $0 == "--help" || $0 == "-h" }) {
      return print(usage, terminator: "")
    }
    let arguments = CommandLine.arguments.dropFirst()
    do throws(BenchError) {
      if arguments.first == "server" {
        try server(ServerOptions(arguments.dropFirst()))
      } else {
        try forward(ForwardOptions(Array(arguments)))
        if arguments.isEmpty { try server(ServerOptions([])) }
      }
    } catch {
      say("roost-bench: \(error)")
      if case .usage = error { say(usage) }
      exit(2)
    }
  }

  private static func forward(_ options: ForwardOptions) throws(BenchError) {
    try SelfCheck.run()
    let results = try measure(options)
    guard options.accepts else { return print(ForwardReport.table(results)) }
    say(ForwardReport.table(results))
    finish(results.flatMap(ForwardReport.rows))
  }

  private static func server(_ options: ServerOptions) throws(BenchError) {
    if options.comparesFeedback {
      var rows: [ForwardReport.Row] = []
      for scenario in options.scenarios {
        say("\(scenario.name), \(2 * FeedbackCost.pairs) × \(options.seconds) s …")
        rows += try FeedbackCost.measure(scenario, options).rows
      }
      return finish(rows)
    }
    var results: [ServerResult] = []
    for scenario in options.scenarios {
      say("\(scenario.name), \(options.seconds) s …")
      results.append(try ServerBench.measure(scenario, options))
    }
    if options.printsJSON {
      print(ServerResult.json(results))
    } else if !options.accepts {
      print(ServerResult.table(results))
    }
    if options.accepts {
      say(ServerResult.table(results))
      finish(results.map(\.row))
    } else if results.contains(where: { !$0.isValid }) {
      exit(1)
    }
  }

  private static func finish(_ rows: [ForwardReport.Row]) {
    for row in rows { print(row) }
    if rows.contains(where: { !$0.isMet }) { exit(1) }
  }

  private static func say(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

  private static func measure(_ options: ForwardOptions) throws(BenchError) -> [ForwardResult] {
    var results: [ForwardResult] = []
    for size in options.sizes {
      for subscribers in options.subscribers {
        var bench = try ForwardBench(subscribers: subscribers, size: size)
        results.append(try bench.run(packets: options.packets))
      }
    }
    return results
  }
}

/// Why nothing was measured.
enum BenchError: Error, CustomStringConvertible {
  case usage(String)
  case setup(String)
  /// A counter that doesn't count makes every zero worthless.
  case counter(String)
  /// The two loops don't do the same work.
  case outputDiffers(packet: Int)

  /// A number of the command line.
  static func number(_ name: String, _ text: String?, _ range: ClosedRange<Int>) throws(BenchError) -> Int {
    guard let text, let value = Int(text), range.contains(value) else {
      throw .usage("\(name) takes a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return value
  }

  var description: String {
    switch self {
    case .usage(let text): text
    case .setup(let text): text
    case .counter(let text): "self-check: \(text)"
    case .outputDiffers(let packet): "datagram \(packet) differs from that of the C loop"
    }
  }
}

/// The command line of `forward`.
struct ForwardOptions {
  var subscribers = [1, 5, 20]
  var sizes = [1_100, 100]
  var packets = 20_000
  var accepts = false

  init(_ arguments: [String]) throws(BenchError) {
    var rest = arguments[...]
    if rest.first == "forward" { rest.removeFirst() }
    while let name = rest.popFirst() {
      switch name {
      case "--subscribers": subscribers = [try BenchError.number(name, rest.popFirst(), 1...64)]
      case "--size": sizes = [try BenchError.number(name, rest.popFirst(), 64...1_400)]
      case "--packets": packets = try BenchError.number(name, rest.popFirst(), 1_024...10_000_000)
      case "--accept": accepts = true
      default: throw .usage("unknown option \(name)")
      }
    }
  }
}
