import Congestion
import Crypto
import Model
import Testing
import Wire

@testable import Engine
@testable import Media
@testable import Peer
@testable import Transport

/// What a publisher of one encoding hears, whatever the paths of those are like who are shown it.
@Suite("A publisher of one layer", .timeLimit(.minutes(2)))
struct UplinkTests {
  /// By what a publisher hears what its path carries.
  enum Feedback: CaseIterable, Sendable {
    case transportWide, estimate, byStream
  }

  /// What it heard, but for requests for key frames.
  struct Word: Equatable {
    var at: Instant
    var kind: RTCPKind
    var bytes: [UInt8]
  }

  /// A publisher and those that are shown its picture, at one worker, behind their handshakes. It sends twenty pictures a second in
  /// two layers of frame rate, and a key frame every two seconds, whatever it is asked for; of its packets some are lost on their way.
  private final class Uplink {
    private let workers: WorkerCoreTests.Workers
    private let feedback: Feedback
    private let publisher: Int
    private let viewers: [(place: Int, target: Double?)]
    private let track: TrackKey
    private var now = Instant(nanoseconds: 1_000_000_000)
    private var number = 0
    private(set) var heard: [Word] = []

    private static let keys = SRTPKeys(
      profile: .aeadAES128GCM, masterKey: Array(1...16), masterSalt: Array(1...12))
    private static let id: UInt8 = 3
    /// Of its encoder.
    private static let keyFrameEvery = 40

    /// - Parameter targets: bits per second that the path to each viewer carries, by its own word; nil: it says nothing.
    init(_ feedback: Feedback, targets: [Double?]) throws {
      let workers = try WorkerCoreTests.Workers(1)
      let from = workers.add(Self.media(feedback))
      var places: [Int] = []
      for key in [from] + targets.map({ _ in workers.add(send: [.video]) }) {
        let place = workers.cores.pointee.peers.find(key)
        places.append(try #require(place))
      }
      self.feedback = feedback
      self.workers = workers
      publisher = places[0]
      track = TrackKey(peer: from, index: 0)
      viewers = zip(places.dropFirst(), targets).map { (place: $0, target: $1) }
      connect(publisher)
      for viewer in viewers {
        connect(viewer.place)
        core.pointee.assign(viewer.place, slot: 0, to: track, now: now)
      }
    }

    private static func media(_ feedback: Feedback) -> AgreedMedia {
      var section = ReceiveSection(
        index: 0, mid: "0", kind: .video,
        codecs: [NegotiatedCodec(format: .vp8, payloadType: 96, nack: true, pli: true)],
        extensions: HeaderExtensionMap(), ssrc: 10, cname: "p")
      switch feedback {
      case .transportWide:
        section.extensions[.transportSequence] = id
        section.codecs[0].transportCC = true
      case .estimate:
        section.extensions[.absoluteSendTime] = id
        section.codecs[0].remb = true
      case .byStream: section.codecs[0].ccfb = true
      }
      return AgreedMedia(receive: [section], allowsReducedSizeRTCP: true)
    }

    private var core: UnsafeMutablePointer<WorkerCore> { workers.cores }

    private func connect(_ place: Int) {
      let peer = core.pointee.peers.pointer(place)
      peer.pointee.connect(
        DTLSAssociation(role: .server, localKeys: Self.keys, remoteKeys: Self.keys, lastFlight: []), now: now,
        context: &core.pointee.context)
      peer.pointee.transport.path = WorkerCoreTests.path
      _ = core.pointee.context.takeEffects()
    }

    /// Packets that left for a viewer.
    func left(_ viewer: Int) -> UInt64 {
      core.pointee.peers.pointer(viewers[viewer].place).pointee.counters(ofSlot: 0).packets
    }

    /// Whether the publisher was given word of what is watched.
    var saidWatched: Bool { workers.bridge.drainEvents().contains { !$0.watched.isEmpty } }

    // MARK: - Time

    func run(seconds: Int) {
      for step in 0..<seconds * 200 {
        now = now + .milliseconds(5)
        workers.now = now
        if step % 10 == 0 { send() }
        core.pointee.serve(now: now)
        if step % 20 == 10 { look() }
        for viewer in viewers { core.pointee.depart(viewer.place, now: now) }
        listen()
        core.pointee.finishTurn(now: now) { $0.removeAll() }
      }
    }

    private func look() {
      for viewer in viewers {
        guard let target = viewer.target else { continue }
        let peer = core.pointee.peers.pointer(viewer.place)
        peer.pointee.session.path.reported.take(estimate: UInt64(target), now: now)
        peer.pointee.egress.setTarget(peer.pointee.target(now: now), now: now)
      }
      core.pointee.sampleEncodings(now: now)
      core.pointee.allocate(now: now)
    }

    // MARK: - What it sends

    private func send() {
      defer { number += 1 }
      // Lost on its way.
      guard number % 37 != 36 else { return }
      var packet = self.packet
      packet.withUnsafeMutableBytes { buffer in
        let peer = core.pointee.peers.pointer(publisher)
        let taken = peer.pointee.session.receive(
          rtp: buffer, arrival: now, context: &core.pointee.context.media)
        if core.pointee.context.hasEffects { _ = core.pointee.applyEffects(publisher, now: now) }
        guard case .media(let tag, let offset, let size, let info) = taken, tag >= 0 else { return }
        core.pointee.deliver(
          UnsafeRawBufferPointer(rebasing: buffer[offset..<offset + size]), info, feed: tag, now: now)
      }
    }

    private static func bytes(_ value: UInt32, _ count: Int) -> [UInt8] {
      (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
    }

    private var packet: [UInt8] {
      let isKey = number % Self.keyFrameEvery == 0
      let isUpper = number % 2 == 1
      var packet: [UInt8] = [feedback == .byStream ? 0x80 : 0x90, 0xE0]
      packet += Self.bytes(UInt32(number), 2) + Self.bytes(UInt32(number) * 4_500, 4) + Self.bytes(10, 4)
      switch feedback {
      case .transportWide:
        packet += [0xBE, 0xDE, 0, 1, Self.id << 4 | 1]
        packet += Self.bytes(UInt32(number), 2) + [0]
      case .estimate:
        // Units of 2^-18 s.
        let units = UInt32(truncatingIfNeeded: now.nanoseconds / 1_000 * 262_144 / 1_000_000)
        packet += [0xBE, 0xDE, 0, 1, Self.id << 4 | 2]
        packet += Self.bytes(units, 3)
      case .byStream: break
      }
      packet += [isUpper ? 0xB0 : 0x90, 0xE0]
      packet += Self.bytes(0x8000 | UInt32(number), 2) + Self.bytes(UInt32(number / 2), 1)
      packet += [isUpper ? 0x60 : 0, isKey ? 0x10 : 0x11]
      return packet + [UInt8](repeating: 7, count: 1_000)
    }

    // MARK: - What it hears

    private func listen() {
      let peer = core.pointee.peers.pointer(publisher)
      guard peer.pointee.session.deadline <= now else { return }
      peer.pointee.session.poll(now: now, ratesChanged: false, context: &core.pointee.context.media)
      for index in 0..<core.pointee.context.media.output.count {
        var reader = RTCPReader(core.pointee.context.media.output.bytes(index))
        while let packet = try? reader.next() {
          guard ![.pictureLoss, .fullIntraRequest].contains(packet.kind) else { continue }
          heard.append(Word(at: now, kind: packet.kind, bytes: Array(packet.body)))
        }
      }
      core.pointee.context.media.output.removeAll()
    }
  }

  @Test(arguments: Feedback.allCases)
  func `a subscriber on a narrow path changes nothing that its publisher hears`(feedback: Feedback) throws {
    let alone = try Uplink(feedback, targets: [nil])
    let beside = try Uplink(feedback, targets: [nil, 60_000])
    for uplink in [alone, beside] { uplink.run(seconds: 40) }
    #expect(beside.left(1) < beside.left(0) / 2, "it is shown less, or nothing")
    #expect(beside.left(0) == alone.left(0), "who has room is shown all")

    let kinds: [Feedback: RTCPKind] = [
      .transportWide: .transportFeedback, .estimate: .applicationFeedback, .byStream: .congestionFeedback,
    ]
    #expect(alone.heard.count { $0.kind == kinds[feedback] } > 30)
    #expect(alone.heard.contains { $0.kind == .nack } && alone.heard.contains { $0.kind == .receiverReport })
    #expect(alone.heard.count == beside.heard.count)
    for (one, other) in zip(alone.heard, beside.heard) where one != other {
      Issue.record("\(other.kind) at \(other.at), in place of \(one.kind) at \(one.at)")
      break
    }
    #expect(!alone.saidWatched && !beside.saidWatched)
  }
}
