internal import Foundation
internal import Load

/// The program: reads its command line, runs the load, prints what came of it.
@main
struct RoostLoad {
  static func main() {
    do {
      let options = try LoadOptions(
        Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment)
      if let calls = options.calls {
        let report = try CallRun(options, calls, say: say).run()
        print(options.output.printsJSON ? report.json : report.table)
        exit(report.isGood ? 0 : 1)
      }
      let chart = try options.output.chart.map { try ChartFile($0) }
      let run = try LoadRun(options, say: say)
      let report = try run.run()
      print(options.output.printsJSON ? report.json : report.table)
      try chart?.write(run.chart)
      exit(report.isGood ? 0 : 1)
    } catch let error as LoadUsageError {
      if error.isHelp {
        print(error.description)
        exit(0)
      }
      say("roost-load: \(error)")
      exit(2)
    } catch {
      say("roost-load: \(error)")
      exit(1)
    }
  }

  private static func say(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
}
