import ICE
import Model
import Simulation

/// A server and a client with the simulation's network between them, on a clock of its own.
///
/// A seed repeats a run exactly. With `rebuilds`, both agents are replaced, after whatever happens, by ones
/// read from their own state.
final class VirtualNetwork {
  /// A datagram as its sender sees it.
  struct Datagram {
    var sentAt: Instant
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

  /// Of the client's link, the same both ways.
  var loss = 0.0 { didSet { setConditions() } }
  var duplication = 0.0 { didSet { setConditions() } }
  /// By so much datagrams overtake each other.
  var jitter: Duration = .zero { didSet { setConditions() } }
  /// Addresses of the client that can be reached; what goes elsewhere ends in `strays`.
  var clientAddresses: Set<SocketAddress> = [clientAddress] { didSet { attach(insteadOf: oldValue) } }
  /// How the server sees an address of the client.
  var nat: [SocketAddress: SocketAddress] = [:] { didSet { attach(insteadOf: clientAddresses) } }
  var rebuilds = false

  private(set) var events: [(at: Instant, event: Event)] = []
  private(set) var strays: [Datagram] = []
  private(set) var sent: [Datagram] = []
  private var cable: NetworkEmulator
  private let link: Int
  private var serverRandom: RandomSource
  private var clientRandom: RandomSource
  private var output = ICEOutput()

  init(
    seed: UInt64 = 1, verify: ICEVerification = .always,
    configuration: ControllingAgent.Configuration = .init(), connect: Bool = true
  ) {
    cable = NetworkEmulator(random: .seeded(state: seed))
    link = cable.addLink(up: .good, down: .good)
    cable.attach(Self.clientAddress, as: Self.clientAddress, link: link)
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
      let due = min(server.deadline, client.deadline, cable.deadline)
      guard due <= end else { break }
      now = max(now, due)
      step()
    }
    now = end
  }

  private func setConditions() {
    var conditions = LinkConditions.good
    conditions.loss = loss
    conditions.duplication = duplication
    conditions.reordering = jitter > .zero ? 0.5 : 0
    conditions.reorderingSpan = jitter.wholeNanoseconds
    cable.setConditions(link, up: conditions, down: conditions)
  }

  private func attach(insteadOf old: Set<SocketAddress>) {
    for address in old { cable.detach(address) }
    for address in clientAddresses { cable.attach(address, as: nat[address] ?? address, link: link) }
  }

  private func step() {
    while let delivery = cable.deliver(now: now) { deliver(delivery) }
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

  private func deliver(_ delivery: NetworkEmulator.Delivery) {
    if delivery.path.local == Self.serverAddress {
      note(
        .server(
          delivery.bytes.withUnsafeBytes {
            server.receive($0, path: delivery.path, now: now, random: &serverRandom, output: &output)
          }))
      flush(toServer: false)
    } else if delivery.link == link {
      note(
        .client(
          delivery.bytes.withUnsafeBytes {
            client.receive($0, path: delivery.path, now: now, random: &clientRandom, output: &output)
          }))
      flush(toServer: true)
    } else {
      let path = NetworkPath(remote: delivery.path.local, local: delivery.path.remote)
      strays.append(
        Datagram(sentAt: delivery.sentAt, toServer: false, path: path, bytes: delivery.bytes))
    }
  }

  private func note(_ event: Event) { events.append((now, event)) }

  private func flush(toServer: Bool) {
    for index in 0..<output.count {
      let (path, bytes) = (output.path(index), Array(output.bytes(index)))
      sent.append(Datagram(sentAt: now, toServer: toServer, path: path, bytes: bytes))
      // What the client sends from an address that it has no more goes nowhere.
      if toServer, !clientAddresses.contains(path.local) { continue }
      cable.send(bytes, path: path, now: now)
    }
    output.removeAll()
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
