import ICE
import Model
import Testing
import Wire

@Suite("Server and client over a network", .timeLimit(.minutes(2)))
struct NetworkTests {
  typealias Event = VirtualNetwork.Event

  private func isSelection(_ event: Event) -> Bool {
    switch event {
    case .client(.selected), .server(.selected): true
    default: false
    }
  }

  @Test func `both ends select the one path within two round trips`() {
    let network = VirtualNetwork()
    network.run(for: .milliseconds(130))
    #expect(network.client.selected == network.clientPath)
    #expect(network.server.selected == network.serverPath)
    #expect(network.client.role == .controlling)
    #expect(network.client.mappedAddress == VirtualNetwork.clientAddress)
  }

  @Test func `an aggressive client is selected after one round trip`() {
    var configuration = ControllingAgent.Configuration()
    configuration.isAggressive = true
    let network = VirtualNetwork(configuration: configuration)
    network.run(for: .milliseconds(61))
    #expect(network.client.selected == network.clientPath)
    #expect(network.server.selected == network.serverPath)
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `with 30 % loss, doubling and reordering both ends agree, and stay`(seed: UInt64) {
    let network = VirtualNetwork(seed: seed)
    network.loss = 0.3
    network.duplication = 0.2
    network.jitter = .milliseconds(150)
    network.run(for: .seconds(40))
    #expect(network.client.selected == network.clientPath)
    #expect(network.server.selected == network.serverPath)
    network.run(for: .seconds(120))
    #expect(network.client.selected == network.clientPath)
    #expect(network.server.selected == network.serverPath)
    #expect(network.strays.isEmpty)
  }

  @Test func `agents rebuilt from their state at every step send the same bytes at the same times`() {
    let runs = [false, true].map { rebuilds in
      let network = VirtualNetwork(seed: 77)
      network.rebuilds = rebuilds
      network.loss = 0.2
      network.duplication = 0.1
      network.jitter = .milliseconds(60)
      network.run(for: .seconds(20))
      network.clientAddresses = [VirtualNetwork.otherAddress]
      network.client.localAddressChanged(
        from: VirtualNetwork.clientAddress, to: VirtualNetwork.otherAddress)
      network.run(for: .seconds(20))
      network.restart()
      network.run(for: .seconds(60))
      return network
    }
    #expect(runs[0].sent.count > 50)
    #expect(runs[0].sent.map(\.bytes) == runs[1].sent.map(\.bytes))
    #expect(runs[0].sent.map(\.sentAt) == runs[1].sent.map(\.sentAt))
    #expect(runs[0].events.map(\.event) == runs[1].events.map(\.event))
    #expect(runs[1].server.selected?.remote == VirtualNetwork.otherAddress)
  }

  @Test func `a client that changes its address is followed within one round trip`() {
    let network = VirtualNetwork()
    network.run(for: .seconds(3))
    network.clearEvents()
    let moved = network.now
    network.clientAddresses = [VirtualNetwork.otherAddress]
    network.client.localAddressChanged(from: VirtualNetwork.clientAddress, to: VirtualNetwork.otherAddress)
    #expect(network.client.selected == nil)
    network.run(for: .seconds(2))
    let path = NetworkPath(remote: VirtualNetwork.otherAddress, local: VirtualNetwork.serverAddress)
    #expect(network.server.selected == path)
    let selection = network.events.first { $0.event == .server(.selected(path)) }
    // 20 ms to the server, then the round trip of its own check.
    #expect(selection?.at == moved + .milliseconds(60))
    #expect(network.client.selected?.local == VirtualNetwork.otherAddress)
  }

  @Test(arguments: [true, false])
  func `a NAT that gives the client another port is followed after the next check`(isAggressive: Bool) {
    var configuration = ControllingAgent.Configuration()
    configuration.isAggressive = isAggressive
    let network = VirtualNetwork(configuration: configuration)
    let first = SocketAddress(ipv4: 198, 51, 100, 1, port: 1111)
    let second = first.with(port: 2222)
    network.nat = [VirtualNetwork.clientAddress: first]
    network.run(for: .seconds(3))
    #expect(network.server.selected?.remote == first)
    #expect(network.client.mappedAddress == first)
    network.nat = [VirtualNetwork.clientAddress: second]
    network.run(for: .seconds(8))
    #expect(network.server.selected?.remote == second)
    #expect(network.client.mappedAddress == second)
  }

  @Test(arguments: [true, false])
  func `a client that nominates once is followed through a NAT after the next check`(sendsValue: Bool) {
    var configuration = ControllingAgent.Configuration()
    configuration.nominatesAgain = false
    configuration.sendsNominationValue = sendsValue
    for seed in 1...20 as ClosedRange<UInt64> {
      let network = VirtualNetwork(seed: seed, configuration: configuration)
      network.jitter = .milliseconds(15)
      let first = SocketAddress(ipv4: 198, 51, 100, 1, port: 1111)
      network.nat = [VirtualNetwork.clientAddress: first]
      network.run(for: .seconds(20))
      for port in 2222...2225 as ClosedRange<UInt16> {
        let next = first.with(port: port)
        network.nat = [VirtualNetwork.clientAddress: next]
        let sent = network.sent.count
        network.run(for: .milliseconds(6500))
        #expect(network.server.selected?.remote == next)
        // From its first check on, three ways, the question and some jitter.
        let check = network.sent[sent...].first { $0.toServer && $0.bytes[0] == 0 && $0.bytes[1] == 1 }
        let path = NetworkPath(remote: next, local: VirtualNetwork.serverAddress)
        let selection = network.events.first { $0.event == .serverPoll(.selected(path)) }
        let wait = check.flatMap { check in selection.map { $0.at - check.sentAt } }
        #expect(wait.map { $0 < .milliseconds(520) } == true)
      }
      #expect(network.strays.allSatisfy { $0.path.remote.port != 2225 })
    }
  }

  @Test func `an ICE restart keeps the old path until the new credentials have one`() {
    let network = VirtualNetwork()
    network.run(for: .seconds(3))
    network.clearEvents()
    network.restart()
    #expect(network.client.selected == network.clientPath)
    #expect(network.server.selected == network.serverPath)
    network.run(for: .seconds(2))
    #expect(network.events(where: isSelection).count == 2)
    #expect(network.client.local == network.clientCredentials)
    network.clearEvents()
    network.run(for: .seconds(120))
    // Nothing is selected again, nothing expires: consent goes on under the new credentials.
    #expect(network.events(where: isSelection).isEmpty)
    #expect(network.server.selected == network.serverPath)
    #expect(network.client.selected == network.clientPath)
  }

  @Test func `a cut ends consent on both sides after thirty seconds, and a restart brings the path back`() {
    let network = VirtualNetwork()
    network.run(for: .seconds(3))
    network.loss = 1
    network.run(for: .seconds(36))
    #expect(network.events(where: { $0 == .serverPoll(.expired(network.serverPath)) }).count == 1)
    #expect(network.events(where: { $0 == .clientPoll(.expired(network.clientPath)) }).count == 1)
    #expect(network.server.selected == nil)
    #expect(network.client.selected == nil)
    network.loss = 0
    network.restart()
    network.run(for: .seconds(1))
    #expect(network.server.selected == network.serverPath)
    #expect(network.client.selected == network.clientPath)
  }

  @Test func `a captured check sent from a victim's address aims nothing at it but three times its size`() {
    let network = VirtualNetwork()
    network.run(for: .seconds(3))
    let captured = network.sent.first { $0.toServer && $0.bytes[0] == 0 && $0.bytes[1] == 1 }!.bytes
    let victim = SocketAddress(ipv4: 198, 51, 100, 77, port: 53)
    #expect(
      network.inject(captured, from: victim)
        == .pending(NetworkPath(remote: victim, local: VirtualNetwork.serverAddress)))
    network.run(for: .seconds(60))
    #expect(network.server.selected == network.serverPath)
    let bytes = network.strays.reduce(0) { $0 + $1.bytes.count }
    #expect(bytes > 0 && bytes <= 3 * captured.count)
    #expect(network.strays.allSatisfy { $0.path.remote == victim })
  }

  @Test func `a client without an answer gives up after thirty seconds, once`() {
    let network = VirtualNetwork()
    network.loss = 1
    network.run(for: .seconds(120))
    #expect(network.events(where: { $0 == .clientPoll(.failed) }).count == 1)
    #expect(network.events(where: { $0 == .serverPoll(.failed) }).count == 1)
  }
}
