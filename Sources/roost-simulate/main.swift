internal import CSimulation
internal import Glibc
internal import Model
internal import Simulation

let arguments: Arguments
do {
  arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
} catch .help {
  print(Arguments.help)
  exit(0)
} catch .defects {
  print(Arguments.defectNames)
  exit(0)
} catch {
  print(error.text)
  exit(2)
}

guard simulation_install_random() == 1 else {
  print("OpenSSL rejects the simulation's random generator; runs would not repeat")
  exit(2)
}

#if PLANTED_DEFECTS
  PlantedDefect.active = arguments.defect
#endif
if arguments.isNew { print("new seeds from \(arguments.first)") }
let summary = Summary(arguments)
let began = ContinuousClock.now
// OpenSSL and libsrtp set themselves up in the first handshake, with random numbers that must be no seed's.
do {
  var warmUp = Conference.Options()
  warmUp.peers = 2
  warmUp.duration = .seconds(4)
  warmUp.weather = false
  warmUp.rooms = 1
  _ = try Conference(seed: 0, options: warmUp).run()
} catch {
  print("no conference can be made: \(error)")
  exit(2)
}
let runner = SeedRunner(
  seeds: arguments.first..<(arguments.first &+ arguments.seeds), options: arguments.options,
  tell: { [summary, stops = arguments.stopsAtFirst] in
    summary.add($0)
    return !stops || !summary.hasViolations
  })
runner.run(threads: arguments.threads)
summary.printTotals(elapsed: ContinuousClock.now - began)
exit(summary.hasFailed ? 1 : 0)
