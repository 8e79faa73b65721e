import Crypto
import Engine
import ICE
import Media
import Model
import Peer
import Transport
import Wire

/// Two workers with the socket in common, and what strangers and two participants send there: any datagrams on any
/// paths at any times, checks by one who has the password among them, at either worker, in between what the control
/// plane asks.
///
/// Tables keep their bounds and end empty, what is due is done, and nothing but checks and handshakes leaves.
func fuzzWorkers(_ input: UnsafeRawBufferPointer) {
  guard let attack = WorkersAttack() else { return }
  var script = AttackScript(input)
  while let step = script.next() { attack.take(step) }
  attack.finish()
}

private final class WorkersAttack {
  private static let peerLimit = 2
  private static let dtls: DTLSContext? = {
    guard let certificate = try? DTLSCertificate(notBefore: 0, notAfter: 4_000_000_000) else { return nil }
    return try? DTLSContext(certificate: certificate)
  }()
  /// Home of both is worker 1; they have one password.
  private static let fragments = [ours.ufrag, "a01otherother01"]

  private let bridge = Bridge(workers: 2, wake: { _ in }, eventsReady: {})
  private var first: WorkerCore
  private var second: WorkerCore
  private var now = Instant(nanoseconds: 1_000_000_000)
  private let traffic = PeerTraffic()
  private var serial: UInt64 = 2
  private var keys = [PeerKey(home: 1, serial: 1), PeerKey(home: 1, serial: 2)]

  init?() {
    guard let dtls = Self.dtls else { return nil }
    let core = { (index: Int, bridge: Bridge) in
      WorkerCore(
        index: index, bridge: bridge, limits: WorkerCore.Limits(peers: Self.peerLimit),
        context: PeerContext(
          epoch: Epoch(ntpAtZero: NTPTime(unixNanoseconds: 1_800_000_000_000_000_000)), dtls: dtls,
          random: .seeded(state: UInt64(index)),
          outbox: Outbox(datagrams: 256) { _ in check(false, "no turn sends without bounds") }))
    }
    first = core(0, bridge)
    second = core(1, bridge)
    for number in 0..<2 { add(number) }
    bridge.post(.assign(keys[1], slot: 1, TrackKey(peer: keys[0], index: 1)))
    turn()
  }

  private func add(_ number: Int) {
    var media = PeerMedia.agreed(0, reducedSize: true)
    // One publishes, the other subscribes.
    if number == 0 { media.send = [] } else { media.receive = [] }
    bridge.post(
      .add(
        PeerSetup(
          key: keys[number],
          local: ICECredentials(ufrag: Self.fragments[number], password: ours.password),
          remote: RemoteTransport(
            credentials: theirs, fingerprints: [], role: number == 0 ? .server : .client),
          media: media, verification: .always, reportSSRC: PeerMedia.reportSSRC, createdAt: now)))
  }

  func take(_ step: AttackScript.Step) {
    now = now + AttackScript.span(step.time)
    turn()
    var datagram = step.message
    switch step.kind & 7 {
    case 0, 1: datagram = repaired(datagram, password: ours.password, transaction: nil)
    case 2, 3: datagram = repaired(datagram, password: theirs.password, transaction: traffic.lastTransaction)
    case 4: return command(step)
    default: break
    }
    receive(datagram, path: step.path, worker: step.kind & 128 == 0 ? 0 : 1)
    turn()
  }

  private func command(_ step: AttackScript.Step) {
    let number = Int((step.message.first ?? 0) & 1)
    let key = keys[number]
    switch (step.message.first ?? 0) >> 1 & 7 {
    case 0:
      bridge.post(.close(key))
      turn()
      // Neither a peer's key nor a fragment is ever another's, but for the fragments that inputs know.
      serial += 1
      keys[number] = PeerKey(home: 1, serial: serial)
      add(number)
    case 1: bridge.post(.apply(key, PeerMedia.agreed(3, reducedSize: true)))
    case 2:
      serial += 1
      let digits = String(serial)
      let ufrag = "a01" + String(repeating: "r", count: 12 - digits.count) + digits
      bridge.post(
        .restartICE(key, local: ICECredentials(ufrag: ufrag, password: ours.password), remote: theirs))
    case 3: bridge.post(.assign(key, slot: 1, TrackKey(peer: keys[0], index: 1)))
    case 4: bridge.post(.assign(key, slot: 1, nil))
    default: bridge.post(.mute(TrackKey(peer: key, index: 1), step.time & 1 != 0))
    }
    turn()
  }

  private func receive(_ datagram: [UInt8], path: NetworkPath, worker: Int) {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: datagram.count, alignment: 8)
    defer { memory.deallocate() }
    memory.copyBytes(from: datagram)
    traffic.came(datagram.count, on: path)
    if worker == 0 {
      first.receive(memory, path: path, arrival: now, now: now)
    } else {
      second.receive(memory, path: path, arrival: now, now: now)
    }
  }

  /// Both loops, until nothing is due and neither has a message for the other.
  private func turn() {
    var rounds = 0
    repeat {
      rounds += 1
      check(rounds < 1_000, "what is due comes to an end")
      turn(&first)
      turn(&second)
    } while first.deadline <= now || second.deadline <= now || rounds < 4
    _ = bridge.drainEvents()
    for worker in 0..<2 { look(at: worker) }
  }

  private func turn(_ core: inout WorkerCore) {
    core.takeMessages(now: now)
    core.poll(now: now)
    core.finishTurn(now: now) { outbox in
      for index in 0..<outbox.count {
        let entry = outbox[index]
        let datagram = Array(outbox.bytes(entry))
        // No peer gets through a handshake here, so that it is STUN and handshakes alone that leave.
        check(datagram[0] < 64, "without keys no media leaves")
        // Whether a path is proven, workers don't tell; `peer` and `server-agent` see to that.
        traffic.left(datagram, on: entry.path, isProven: true)
      }
      outbox.removeAll()
    }
  }

  private func look(at worker: Int) {
    guard let report = report(of: worker) else { return check(false, "a worker answers") }
    check(report.peers <= Self.peerLimit && report.timers <= Self.peerLimit, "peers have a bound")
    check(report.paths <= max(8 * Self.peerLimit, 64), "paths have a bound")
    check(report.pendingChecks <= 8 * Self.fragments.count, "checks that wait have a bound")
    check(report.fragments <= 4 * Self.peerLimit, "fragments have a bound")
    check(
      report.counters[.sealRefused] == 0 && report.counters[.sealFailed] == 0,
      "what is forwarded can be sealed")
  }

  private func report(of worker: Int) -> WorkerReport? {
    let place = Place()
    bridge.report(worker: worker) { place.report = $0 }
    if worker == 0 { first.takeMessages(now: now) } else { second.takeMessages(now: now) }
    return place.report
  }

  private final class Place: @unchecked Sendable {
    // The report is made on the thread that asks.
    var report: WorkerReport?
  }

  /// Everybody goes: nothing is left.
  func finish() {
    for key in keys { bridge.post(.close(key)) }
    turn()
    now = now + .seconds(60)
    turn()
    for worker in 0..<2 {
      guard let report = report(of: worker) else { return check(false, "a worker answers") }
      check(report.peers == 0 && report.timers == 0, "who goes leaves no peer")
      check(report.homeRecords == 0, "who goes leaves no record at home")
      check(report.fragments == 0, "who goes leaves no fragment")
      check(report.tracks == 0, "who goes leaves no track")
    }
  }
}
