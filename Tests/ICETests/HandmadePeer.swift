import Crypto
import ICE
import Model
import Testing
import Wire

/// A server agent with a peer whose every message is made by hand.
final class HandmadePeer {
  static let server = SocketAddress(ipv4: 203, 0, 113, 1, port: 7882)

  var agent: ServerAgent
  var local: ICECredentials
  var remote: ICECredentials
  var now = Instant(nanoseconds: 1_000_000_000)
  private var random = RandomSource.seeded(state: 5)
  private var output = ICEOutput()
  private(set) var sent: [(path: NetworkPath, bytes: [UInt8])] = []
  private var serial: UInt64 = 0
  /// Paths that were given up for want of an answer.
  private(set) var abandoned = 0

  init(verify: ICEVerification = .always, knowsRemote: Bool = true) {
    local = .generate(homeWorker: 1, random: &random)
    remote = ICECredentials(ufrag: "peer", password: "0123456789abcdefghijklmn")
    agent = ServerAgent(local: local, verify: verify, now: now)
    if knowsRemote { agent.setRemote(remote) }
  }

  static func path(_ port: UInt16) -> NetworkPath {
    NetworkPath(remote: SocketAddress(ipv4: 192, 0, 2, 1, port: port), local: server)
  }

  func nextTransaction() -> STUNTransactionID {
    serial += 1
    return STUNTransactionID(high: 0xAAAA_0000, low: serial)
  }

  // MARK: Making messages

  func seal(
    _ messageClass: STUNClass, _ transaction: STUNTransactionID, password: String,
    _ body: (inout STUNWriter) -> Void
  ) -> [UInt8] {
    var memory = [UInt8](repeating: 0, count: 1400)
    let count = memory.withUnsafeMutableBytes { memory in
      var writer = STUNWriter(memory, messageClass, transaction: transaction)
      body(&writer)
      let offset = writer.openIntegrity()!
      let covered = Array(memory[..<offset])
      let code = HMAC.code(.sha1, key: Array(password.utf8), message: covered)
      for (index, byte) in code.enumerated() { memory[offset + 4 + index] = byte }
      writer.appendFingerprint()
      return writer.count
    }
    return Array(memory.prefix(count))
  }

  func check(
    useCandidate: Bool = false, nomination: UInt32? = nil, controlling: Bool = true,
    transaction: STUNTransactionID? = nil, ufrag: String? = nil, password: String? = nil
  ) -> [UInt8] {
    seal(.request, transaction ?? nextTransaction(), password: password ?? local.password) {
      $0.appendUsername(Array((ufrag ?? local.ufrag).utf8), Array(remote.ufrag.utf8))
      $0.append(controlling ? .iceControlling : .iceControlled, 77 as UInt64)
      $0.append(.priority, 1_845_501_695 as UInt32)
      if useCandidate { $0.append(.useCandidate) }
      if let nomination { $0.append(.nomination, nomination) }
    }
  }

  /// The right answer to a check of the server's.
  func answer(to check: [UInt8], seenFrom address: SocketAddress = server, password: String? = nil) -> [UInt8]
  {
    let transaction = parse(check)!.transaction
    return seal(.success, transaction, password: password ?? remote.password) { $0.appendMapped(address) }
  }

  func parse(_ bytes: [UInt8]) -> STUNMessage? { bytes.withUnsafeBytes { try? STUNMessage($0) } }

  // MARK: Talking to the agent

  @discardableResult
  func receive(_ bytes: [UInt8], _ path: NetworkPath) -> STUNOutcome {
    let outcome = bytes.withUnsafeBytes {
      agent.receive($0, path: path, now: now, random: &random, output: &output)
    }
    drain()
    return outcome
  }

  /// A packet of the peer's that only it can have made came by the path.
  func media(_ path: NetworkPath) -> Bool { agent.mediaCame(on: path, now: now, random: &random) }

  /// Polls until nothing is due.
  @discardableResult
  func poll() -> [ICEPoll] {
    var events: [ICEPoll] = []
    while true {
      let event = agent.poll(now: now, random: &random, output: &output)
      drain()
      if case .idle = event { return events }
      events.append(event)
    }
  }

  /// Moves the clock from deadline to deadline; each of the agent's own checks is handed to `answering`.
  @discardableResult
  func run(for span: Duration, answering: (NetworkPath) -> Bool = { _ in false }) -> [ICEPoll] {
    let end = now + span
    var events: [ICEPoll] = []
    while agent.deadline <= end {
      now = max(now, agent.deadline)
      let before = sent.count
      events += poll()
      for (path, bytes) in sent[before...] where parse(bytes)?.messageClass == .request && answering(path) {
        receive(answer(to: bytes), path)
      }
    }
    now = end
    return events
  }

  private func drain() {
    abandoned += output.abandoned
    for index in 0..<output.count { sent.append((output.path(index), Array(output.bytes(index)))) }
    output.removeAll()
  }

  func clearSent() { sent = [] }

  func checks(to path: NetworkPath) -> [[UInt8]] {
    sent.filter { $0.path == path && parse($0.bytes)?.messageClass == .request }.map(\.bytes)
  }

  // Without these `#expect` would copy the agent.
  func isValidated(_ path: NetworkPath) -> Bool { agent.isValidated(path) }
  func hasValidCheck(_ path: NetworkPath) -> Bool { agent.hasValidCheck(path) }

  @discardableResult
  func answerFirstCheck(on path: NetworkPath) throws -> STUNOutcome {
    receive(answer(to: try #require(checks(to: path).first)), path)
  }

  /// From the first check to the answer that proves the path.
  @discardableResult
  func validate(_ path: NetworkPath, useCandidate: Bool = false, nomination: UInt32? = nil) throws
    -> STUNOutcome
  {
    receive(check(useCandidate: useCandidate, nomination: nomination), path)
    let own = try #require(checks(to: path).last)
    return receive(answer(to: own), path)
  }

  /// Goes on with an agent read from this one's state.
  func rebuild() throws {
    let before = state()
    var reader = StateReader(before)
    agent = try ServerAgent(from: &reader)
    try reader.finish()
    #expect(state() == before)
  }

  func state() -> [UInt8] {
    var writer = StateWriter()
    agent.encode(into: &writer)
    return writer.bytes
  }
}
