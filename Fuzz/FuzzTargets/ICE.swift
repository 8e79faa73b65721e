import ICE
import Model
import Wire

/// What an agent sent, as far as the promises go.
private struct Traffic {
  /// Per path: bytes that came, and bytes that went out before the path was proven.
  var received: [NetworkPath: Int] = [:]
  var sent: [NetworkPath: Int] = [:]
  var lastSent: [UInt8] = []

  mutating func take(_ output: inout ICEOutput, isValidated: (NetworkPath) -> Bool) {
    check(output.count <= ICEOutput.capacity, "the output has its bound")
    for index in 0..<output.count {
      let bytes = output.bytes(index)
      check(bytes.count >= 20 && (try? STUNMessage(bytes)) != nil, "only STUN is sent")
      lastSent = Array(bytes)
      let path = output.path(index)
      if !isValidated(path) { sent[path, default: 0] += bytes.count }
    }
    output.removeAll()
  }
}

/// A participant's messages in any order and at any time: no other address is flooded, timers move on, and
/// the agent rebuilt from its state is the same.
@Sendable public func fuzzServerAgent(_ bytes: UnsafeRawBufferPointer) {
  var script = AttackScript(bytes)
  var random = RandomSource.seeded(state: 1)
  var now = Instant(nanoseconds: 1_000_000_000)
  var agent = ServerAgent(local: ours, verify: .always, now: now)
  agent.setRemote(theirs)
  var output = ICEOutput()
  var traffic = Traffic()
  while let step = script.next() {
    now = now + AttackScript.span(step.time)
    var message = step.message
    switch step.kind & 7 {
    case 0, 1: message = repaired(message, password: ours.password, transaction: nil)
    case 2, 3:
      let transaction = traffic.lastSent.count >= 20 ? traffic.lastSent[8..<20] : nil
      message = repaired(message, password: theirs.password, transaction: transaction)
    case 4: agent.restart(local: ours, remote: theirs)
    case 5: agent = rebuilt(agent)
    default: break
    }
    traffic.received[step.path, default: 0] += message.count
    _ = message.withUnsafeBytes {
      agent.receive($0, path: step.path, now: now, random: &random, output: &output)
    }
    traffic.take(&output) { agent.isValidated($0) }
    for round in 0... {
      check(round < 1_000, "what is due comes to an end")
      let event = agent.poll(now: now, random: &random, output: &output)
      traffic.take(&output) { agent.isValidated($0) }
      if case .idle = event { break }
    }
    check(agent.deadline > now, "what was due is done")
    if let selected = agent.selected {
      check(traffic.received[selected] != nil, "nothing is selected that sent nothing")
    }
  }
  for (path, sent) in traffic.sent where !agent.isValidated(path) {
    check(
      sent <= 3 * (traffic.received[path] ?? 0), "an unproven address gets three times what it sent at most")
  }
}

private func rebuilt(_ agent: borrowing ServerAgent) -> ServerAgent {
  var writer = StateWriter()
  agent.encode(into: &writer)
  let state = writer.bytes
  var reader = StateReader(state)
  do throws(StateError) {
    let again = try ServerAgent(from: &reader)
    var second = StateWriter()
    again.encode(into: &second)
    check(second.bytes == state, "state is read and written alike")
    return again
  } catch {
    fatalError("state is read: \(error)")
  }
}

/// A server's messages in any order and at any time.
@Sendable public func fuzzControllingAgent(_ bytes: UnsafeRawBufferPointer) {
  var script = AttackScript(bytes)
  var random = RandomSource.seeded(state: 1)
  var now = Instant(nanoseconds: 1_000_000_000)
  var agent = ControllingAgent(local: theirs, remote: ours, now: now, random: &random)
  for last in 0..<3 as Range<UInt8> { agent.addLocal(SocketAddress(ipv4: 10, 0, 0, last, port: 3_478)) }
  var output = ICEOutput()
  var traffic = Traffic()
  while let step = script.next() {
    now = now + AttackScript.span(step.time)
    var message = step.message
    switch step.kind & 7 {
    case 0, 1: message = repaired(message, password: theirs.password, transaction: nil)
    case 2, 3:
      let transaction = traffic.lastSent.count >= 20 ? traffic.lastSent[8..<20] : nil
      message = repaired(message, password: ours.password, transaction: transaction)
    case 4: agent.restart(local: theirs, remote: ours)
    case 5: agent = rebuilt(agent)
    case 6: agent.addRemote(step.path.remote, priority: UInt32(step.time) << 24)
    default: break
    }
    _ = message.withUnsafeBytes {
      agent.receive($0, path: step.path, now: now, random: &random, output: &output)
    }
    traffic.take(&output) { _ in true }
    for round in 0... {
      check(round < 2_000, "what is due comes to an end")
      let event = agent.poll(now: now, random: &random, output: &output)
      traffic.take(&output) { _ in true }
      if case .idle = event { break }
    }
    check(agent.deadline > now, "what was due is done")
    if let selected = agent.selected { check(agent.isValidated(selected), "what is selected is proven") }
  }
}

private func rebuilt(_ agent: borrowing ControllingAgent) -> ControllingAgent {
  var writer = StateWriter()
  agent.encode(into: &writer)
  let state = writer.bytes
  var reader = StateReader(state)
  do throws(StateError) {
    let again = try ControllingAgent(from: &reader)
    var second = StateWriter()
    again.encode(into: &second)
    check(second.bytes == state, "state is read and written alike")
    return again
  } catch {
    fatalError("state is read: \(error)")
  }
}

/// State from elsewhere: refused, or good to go on with. The first byte chooses the agent.
@Sendable public func fuzzICEState(_ bytes: UnsafeRawBufferPointer) {
  guard let first = bytes.first else { return }
  var reader = StateReader(Array(bytes.dropFirst()))
  var random = RandomSource.seeded(state: 1)
  var output = ICEOutput()
  let moments = [0, 1, 50, 5_000, 31_000, 86_400_000].map { Instant(nanoseconds: 0) + .milliseconds($0) }
  if first & 1 == 0 {
    guard let read = try? ServerAgent(from: &reader) else { return }
    var agent = rebuilt(read)
    for now in moments {
      for _ in 0..<4 { _ = agent.poll(now: now, random: &random, output: &output) }
      output.removeAll()
    }
  } else {
    guard let read = try? ControllingAgent(from: &reader) else { return }
    var agent = rebuilt(read)
    for now in moments {
      for _ in 0..<4 { _ = agent.poll(now: now, random: &random, output: &output) }
      output.removeAll()
    }
  }
}
