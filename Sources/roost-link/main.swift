internal import Glibc
internal import Model
internal import Simulation

do {
  let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
  let here = try TunDevice(name: arguments.here)
  let there = try TunDevice(name: arguments.there)
  let link = EmulatedLink(down: arguments.down, up: arguments.up, random: .seeded(state: arguments.seed))
  var run = LinkRun(here: here, there: there, link: link)
  run.run()
} catch Arguments.Failure.help {
  print(Arguments.help)
} catch Arguments.Failure.text(let text) {
  print("roost-link: \(text)")
  exit(2)
} catch let failure as TunDevice.Failure {
  print("roost-link: \(failure.text)")
  exit(1)
}
