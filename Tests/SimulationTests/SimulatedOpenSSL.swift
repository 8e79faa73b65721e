import CSimulation

@testable import Simulation

extension Conference.Options {
  /// OpenSSL has the conference's clock and random numbers, as in `roost-simulate`: what is lost of a handshake is sent again in virtual
  /// time, and a seed sends the same bytes each time. For a conference that is run to its end, which gives the thread its own ones back.
  static var repeatable: Self {
    var options = Self()
    options.hooks = openSSL
    return options
  }

  /// The first handshake sets OpenSSL and libsrtp up, by random numbers that must be no seed's.
  private static let openSSL: VirtualClock.ProcessHooks = {
    precondition(simulation_install_random() == 1, "OpenSSL takes the generator of the simulation")
    var options = Self()
    (options.weather, options.peers, options.rooms, options.duration) = (false, 2, 1, .seconds(4))
    _ = try? Conference(seed: 0, options: options).run()
    return VirtualClock.ProcessHooks(
      setTime: { if let time = $0 { simulation_set_time(time) } else { simulation_clear_time() } },
      setSeed: { if let seed = $0 { simulation_set_seed(seed) } else { simulation_clear_seed() } })
  }()
}
