internal import CSimulation
internal import Simulation

extension VirtualClock.ProcessHooks {
  /// This executable's own clock and generator for OpenSSL.
  static let openSSL = VirtualClock.ProcessHooks(
    setTime: { if let time = $0 { simulation_set_time(time) } else { simulation_clear_time() } },
    setSeed: { if let seed = $0 { simulation_set_seed(seed) } else { simulation_clear_seed() } })
}
