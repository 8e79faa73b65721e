import Glibc
import Model

@testable import Crypto

/// Monotonic time as the tests' `Instant`; OpenSSL's own timer runs on the system's clock, so these tests do too.
enum TestClock {
  private static let start = ContinuousClock.now
  static var now: Instant { Instant(nanoseconds: (ContinuousClock.now - start).wholeNanoseconds) }
}

/// One certificate for all tests: making them is what takes time.
enum TestCertificates {
  static let ours = try! DTLSCertificate(notBefore: 1_700_000_000, notAfter: 1_900_000_000)
  static let theirs = try! DTLSCertificate(notBefore: 1_700_000_000, notAfter: 1_900_000_000)
}

/// One end of a tested handshake, with what it does after connecting.
final class Endpoint {
  private(set) var handshake: DTLSHandshake
  private(set) var association: DTLSAssociation?
  private(set) var failure: DTLSError?
  private(set) var repeats = 0
  /// The other end has said farewell.
  private(set) var isClosed = false
  private(set) var ignored: [DTLSAssociation.IgnoreReason] = []
  private var pending: [[UInt8]] = []
  private(set) var largest = 0

  init(
    _ role: DTLSRole, _ context: DTLSContext, expecting expected: [Fingerprint],
    datagramSize: Int = DTLSHandshake.datagramSize
  ) {
    handshake = DTLSHandshake(
      context: context, role: role, expecting: expected, now: TestClock.now, datagramSize: datagramSize)
  }

  var isOver: Bool { association != nil || failure != nil }
  var deadline: Instant? { handshake.deadline }

  func start() { note(handshake.start(now: TestClock.now)) }
  func poll(now: Instant = TestClock.now) { note(handshake.poll(now: now)) }

  func receive(_ datagram: [UInt8]) {
    let now = TestClock.now
    if var late = association {
      switch datagram.withUnsafeBytes({ late.answerToLate($0, now: now) }) {
      case .repeatLastFlight:
        pending += late.lastFlight
        repeats += 1
      case .ignore(let reason): ignored.append(reason)
      case .closed: isClosed = true
      }
      association = late
    } else {
      note(datagram.withUnsafeBytes { handshake.receive($0, now: now) })
    }
  }

  /// Everything that waits to be sent.
  func take() -> [[UInt8]] {
    var datagrams: [[UInt8]] = []
    while let next = handshake.nextDatagram() { datagrams.append(next) }
    datagrams += pending
    pending = []
    largest = max(largest, datagrams.map(\.count).max() ?? 0)
    return datagrams
  }

  private func note(_ progress: DTLSHandshake.Progress) {
    switch progress {
    case .inProgress: break
    case .connected(let association): if self.association == nil { self.association = association }
    case .failed(let error): failure = error
    }
  }
}

/// Client and server with a link between them that loses, delays, reorders and duplicates, after a seed.
final class Pair {
  struct Link {
    /// In percent.
    var loss = 0
    var duplication = 0
    /// In milliseconds, drawn for each datagram, so that they overtake each other.
    var delay = 0
  }

  let client: Endpoint
  let server: Endpoint
  private let link: Link
  private var random: RandomSource
  private var underway: [(at: Instant, toServer: Bool, bytes: [UInt8])] = []

  init(
    _ profiles: [SRTPProfile] = SRTPProfile.preferred, link: Link = Link(), seed: UInt64 = 1,
    clientExpects: [Fingerprint]? = nil, serverExpects: [Fingerprint]? = nil,
    datagramSize: Int = DTLSHandshake.datagramSize
  ) throws {
    let ours = try DTLSContext(certificate: TestCertificates.ours, profiles: profiles)
    let theirs = try DTLSContext(certificate: TestCertificates.theirs, profiles: profiles)
    server = Endpoint(
      .server, ours, expecting: serverExpects ?? [TestCertificates.theirs.fingerprint(.sha256)],
      datagramSize: datagramSize)
    client = Endpoint(
      .client, theirs, expecting: clientExpects ?? [TestCertificates.ours.fingerprint(.sha256)],
      datagramSize: datagramSize)
    self.link = link
    random = .seeded(state: seed)
  }

  var isOver: Bool { client.isOver && server.isOver }

  /// Does what is due.
  /// - Returns: when there is something to do next.
  func step() -> Instant {
    collect()
    let now = TestClock.now
    let due = underway.filter { $0.at <= now }
    underway.removeAll { $0.at <= now }
    for datagram in due { (datagram.toServer ? server : client).receive(datagram.bytes) }
    for end in [client, server] { if let deadline = end.deadline, deadline <= now { end.poll() } }
    collect()
    return (underway.map(\.at) + [client.deadline, server.deadline].compactMap(\.self)).min() ?? .never
  }

  private func collect() {
    for (end, toServer) in [(client, true), (server, false)] {
      for bytes in end.take() {
        let copies = chance(link.loss) ? 0 : chance(link.duplication) ? 2 : 1
        for _ in 0..<copies {
          let delay = link.delay == 0 ? 0 : Int64(random.next() % UInt64(link.delay)) * 1_000_000
          underway.append((TestClock.now.advanced(byNanoseconds: delay), toServer, bytes))
        }
      }
    }
  }

  private func chance(_ percent: Int) -> Bool { percent > 0 && random.next() % 100 < UInt64(percent) }

  /// Runs all of them side by side until each is over, or the time is.
  static func run(_ pairs: [Pair], within limit: Duration = .seconds(25)) {
    for pair in pairs { pair.client.start() }
    let end = TestClock.now + limit
    while TestClock.now < end {
      let next = pairs.filter { !$0.isOver }.map { $0.step() }.min()
      guard let next, !pairs.allSatisfy(\.isOver) else { return }
      let wait = (min(next, end) - TestClock.now).wholeNanoseconds
      if wait > 0 { usleep(UInt32(wait / 1_000)) }
    }
  }
}
