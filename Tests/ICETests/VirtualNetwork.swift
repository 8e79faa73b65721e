import ICE
import Model

/// A server and a client with a network between them that loses, delays and doubles, on a clock of its own.
///
/// A seed repeats a run exactly. With `rebuilds`, both agents are replaced, after whatever happens, by ones
/// read from their own state.
final class VirtualNetwork {
  struct Flight {
    var arrival: Instant
    var order: Int
    var toServer: Bool
    var path: NetworkPath
    var bytes: [UInt8]
  }
  enum Event: Equatable {
    case server(STUNOutcome)
    case client(STUNOutcome)
    case serverPoll(ICEPoll)
    case clientPoll(ICEPoll)
  }

  static let serverAddress = SocketAddress(ipv4: 203, 0, 113, 1, port: 7882)
  static let clientAddress = SocketAddress(ipv4: 192, 0, 2, 1, port: 40_000)
  static let otherAddress = SocketAddress(ipv4: 198, 51, 100, 9, port: 41_000)

  var now = Instant(nanoseconds: 1_000_000_000)
  var server: ServerAgent
  var client: ControllingAgent
  var serverCredentials: ICECredentials
  var clientCredentials: ICECredentials

  var loss = 0.0
  var duplication = 0.0
  var delay: Duration = .milliseconds(20)
  var jitter: Duration = .zero
  /// Addresses of the client that can be reached; what goes elsewhere ends in `strays`.
  var clientAddresses: Set<SocketAddress> = [clientAddress]
  /// How the server sees an address of the client.
  var nat: [SocketAddress: SocketAddress] = [:]
  var rebuilds = false

  private(set) var events: [(at: Instant, event: Event)] = []
  private(set) var strays: [Flight] = []
  private(set) var sent: [Flight] = []
  private var flights: [Flight] = []
  private var order = 0
  private var weather: RandomSource
  private var serverRandom: RandomSource
  private var clientRandom: RandomSource
  private var output = ICEOutput()

  init(
    seed: UInt64 = 1, verify: ICEVerification = .always,
    configuration: ControllingAgent.Configuration = .init(), connect: Bool = true
  ) {
    weather = .seeded(state: seed)
    serverRandom = .seeded(state: seed &+ 1000)
    clientRandom = .seeded(state: seed &+ 2000)
    serverCredentials = .generate(homeWorker: 3, random: &serverRandom)
    clientCredentials = ICECredentials(ufrag: "Wxyz", password: clientRandom.alphanumeric(24))
    server = ServerAgent(local: serverCredentials, verify: verify, now: now)
    client = ControllingAgent(
      local: clientCredentials, remote: serverCredentials, configuration: configuration, now: now,
      random: &clientRandom)
    server.setRemote(clientCredentials)
    guard connect else { return }
    client.addLocal(Self.clientAddress)
    client.addRemote(Self.serverAddress, priority: ICEPriority.candidate(.host, localPreference: .max))
  }

  var clientPath: NetworkPath { NetworkPath(remote: Self.serverAddress, local: Self.clientAddress) }
  var serverPath: NetworkPath { NetworkPath(remote: Self.clientAddress, local: Self.serverAddress) }

  func events(where matches: (Event) -> Bool) -> [Event] { events.map(\.event).filter(matches) }
  func clearEvents() { events = [] }

  func restart() {
    serverCredentials = .generate(homeWorker: 3, random: &serverRandom)
    clientCredentials = ICECredentials(ufrag: "New1", password: clientRandom.alphanumeric(24))
    server.restart(local: serverCredentials, remote: clientCredentials)
    client.restart(local: clientCredentials, remote: serverCredentials)
    client.addRemote(Self.serverAddress, priority: ICEPriority.candidate(.host, localPreference: .max))
  }

  /// Lets a datagram arrive at the server from wherever one likes.
  @discardableResult
  func inject(_ bytes: [UInt8], from remote: SocketAddress) -> STUNOutcome {
    let path = NetworkPath(remote: remote, local: Self.serverAddress)
    let outcome = bytes.withUnsafeBytes {
      server.receive($0, path: path, now: now, random: &serverRandom, output: &output)
    }
    note(.server(outcome))
    flush(toServer: false)
    return outcome
  }

  func run(for span: Duration) { run(until: now + span) }

  func run(until end: Instant) {
    while true {
      let due = min(server.deadline, client.deadline, flights.map(\.arrival).min() ?? .never)
      guard due <= end else { break }
      now = max(now, due)
      step()
    }
    now = end
  }

  private func step() {
    let arrived = flights.filter { $0.arrival <= now }.sorted {
      ($0.arrival, $0.order) < ($1.arrival, $1.order)
    }
    flights.removeAll { $0.arrival <= now }
    for flight in arrived { deliver(flight) }
    if server.deadline <= now {
      let poll = server.poll(now: now, random: &serverRandom, output: &output)
      if case .idle = poll {} else { note(.serverPoll(poll)) }
      flush(toServer: false)
    }
    if client.deadline <= now {
      let poll = client.poll(now: now, random: &clientRandom, output: &output)
      if case .idle = poll {} else { note(.clientPoll(poll)) }
      flush(toServer: true)
    }
    if rebuilds { rebuild() }
  }

  private func deliver(_ flight: Flight) {
    if flight.toServer {
      note(
        .server(
          flight.bytes.withUnsafeBytes {
            server.receive($0, path: flight.path, now: now, random: &serverRandom, output: &output)
          }))
      flush(toServer: false)
    } else {
      note(
        .client(
          flight.bytes.withUnsafeBytes {
            client.receive($0, path: flight.path, now: now, random: &clientRandom, output: &output)
          }))
      flush(toServer: true)
    }
  }

  private func note(_ event: Event) { events.append((now, event)) }

  private func flush(toServer: Bool) {
    for index in 0..<output.count {
      let path = output.path(index)
      send(toServer: toServer, path, Array(output.bytes(index)))
      if Double.random(in: 0..<1, using: &weather) < duplication {
        send(toServer: toServer, path, Array(output.bytes(index)))
      }
    }
    output.removeAll()
  }

  private func send(toServer: Bool, _ path: NetworkPath, _ bytes: [UInt8]) {
    let lost = Double.random(in: 0..<1, using: &weather) < loss
    let extra = Int64.random(in: 0...max(0, jitter.wholeNanoseconds), using: &weather)
    let arrival = (now + delay).advanced(byNanoseconds: extra)
    order += 1
    var flight = Flight(arrival: arrival, order: order, toServer: toServer, path: path, bytes: bytes)
    sent.append(flight)
    guard !lost else { return }
    if toServer {
      guard clientAddresses.contains(path.local) else { return }
      flight.path = NetworkPath(remote: nat[path.local] ?? path.local, local: path.remote)
      flights.append(flight)
    } else if let inside = clientAddresses.first(where: { (nat[$0] ?? $0) == path.remote }) {
      flight.path = NetworkPath(remote: path.local, local: inside)
      flights.append(flight)
    } else {
      strays.append(flight)
    }
  }

  func rebuild() {
    var writer = StateWriter()
    server.encode(into: &writer)
    client.encode(into: &writer)
    var reader = StateReader(writer.bytes)
    do {
      server = try ServerAgent(from: &reader)
      client = try ControllingAgent(from: &reader)
      try reader.finish()
    } catch {
      fatalError("state of our own isn't read: \(error)")
    }
  }
}
