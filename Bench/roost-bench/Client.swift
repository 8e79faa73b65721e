import Crypto
import ICE
import Model

/// A far end in the same process: its checks and its handshake, no media of its own making.
final class Client {
  let key: PeerKey
  let address: SocketAddress
  let credentials: ICECredentials
  private let server: SocketAddress
  private var agent: ControllingAgent
  private var output = ICEOutput()
  private var handshake: DTLSHandshake
  private var isStarted = false
  private(set) var association: DTLSAssociation?

  init(
    _ key: PeerKey, at address: SocketAddress, server: SocketAddress, remote: ICECredentials,
    dtls: DTLSContext,
    fingerprint: Fingerprint, now: Instant, random: inout RandomSource
  ) {
    self.key = key
    self.address = address
    self.server = server
    credentials = ICECredentials(ufrag: random.alphanumeric(8), password: random.alphanumeric(24))
    var configuration = ControllingAgent.Configuration()
    configuration.isAggressive = true
    agent = ControllingAgent(
      local: credentials, remote: remote, configuration: configuration, now: now, random: &random)
    agent.addLocal(address)
    agent.addRemote(server, priority: 1 << 30)
    handshake = DTLSHandshake(context: dtls, role: .client, expecting: [fingerprint], now: now)
  }

  /// As the server sees it.
  var path: NetworkPath { NetworkPath(remote: address, local: server) }

  /// What is to be sent now.
  func poll(now: Instant, random: inout RandomSource) -> [[UInt8]] {
    if agent.deadline <= now { _ = agent.poll(now: now, random: &random, output: &output) }
    if agent.selected != nil && !isStarted {
      isStarted = true
      _ = handshake.start(now: now)
    }
    return takeOutput()
  }

  /// Takes a datagram of the server's; media is left alone.
  /// - Returns: the answer.
  func receive(_ datagram: UnsafeRawBufferPointer, now: Instant, random: inout RandomSource) -> [[UInt8]] {
    switch datagram.first ?? .max {
    case 0...3:
      let path = NetworkPath(remote: server, local: address)
      _ = agent.receive(datagram, path: path, now: now, random: &random, output: &output)
    case 20...63:
      if case .connected(let association) = handshake.receive(datagram, now: now) {
        self.association = association
      }
    default: break
    }
    return takeOutput()
  }

  private func takeOutput() -> [[UInt8]] {
    var datagrams = (0..<output.count).map { Array(output.bytes($0)) }
    output.removeAll()
    while let datagram = handshake.nextDatagram() { datagrams.append(datagram) }
    return datagrams
  }
}
