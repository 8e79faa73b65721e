import CSystem
import Foundation
import Model
import Simulation
import SyntheticPeers
import Testing

/// How much is done, by environment.
enum Figures {
  private static let environment = ProcessInfo.processInfo.environment
  /// Memory is the whole process's: it says something only where nothing else runs beside.
  static let isApart = environment["ROOST_ATTACKS_APART"] == "1"
  /// Repeats after which memory must be what it was after a hundred.
  static let repeats = 1_000
  /// The same, of those that take handshakes.
  static let slowRepeats = environment["ROOST_ATTACK_HANDSHAKES"].flatMap { Int($0) } ?? 150
}

/// Attacks, and holds what is left of them against what was before: exactly the reasons that are expected come up, every
/// table has the size that it had, the bystander has missed nothing, and a thousand more leave no more memory behind
/// than a hundred.
/// - Parameters:
///   - expected: by how much which reason rises; others must not.
///   - besides: reasons that may rise as well.
///   - growing: tables that may have grown, whose bound the test looks at itself.
///   - pause: after each.
///   - settle: after all of them.
///   - repeats: as many, where memory is measured.
///   - verify: what else there is to look at, before memory is.
func withstand(
  _ range: AttackRange, times: Int, raising expected: [String: UInt64], besides: Set<String> = [],
  growing: Set<String> = [], pause: Duration = .milliseconds(1), settle: Duration = .milliseconds(50),
  repeats: Int = Figures.repeats, sourceLocation: SourceLocation = #_sourceLocation,
  _ hostile: (Int) throws -> Void, verifying verify: () throws -> Void = {}
) throws {
  let (before, sizes) = (range.reasons(), range.sizes())
  for index in 0..<times {
    try hostile(index)
    range.run(for: pause)
  }
  range.run(for: settle)
  let risen = range.risen(since: before).filter { !besides.contains($0.key) }
  #expect(risen == expected, sourceLocation: sourceLocation)
  let left = range.sizes()
  let grown = sizes.keys.filter { !growing.contains($0) && sizes[$0] != left[$0] }.sorted()
    .map { "\($0): \(sizes[$0] ?? 0) before, \(left[$0] ?? 0) after" }
  #expect(grown == [], sourceLocation: sourceLocation)
  let gaps = range.gaps()
  #expect(gaps == [], sourceLocation: sourceLocation)
  try verify()
  guard Figures.isApart else { return }

  let growth = try range.growth(after: 100, and: repeats) { round in
    try hostile(times + round)
    range.run(for: pause)
  } settling: {
    range.run(for: settle)
  }
  #expect(growth <= 1_048_576, "bytes, between 100 and \(repeats) repeats", sourceLocation: sourceLocation)
}

extension AttackRange {
  /// Bytes that the process has allocated, whichever part of it did.
  static var allocatedBytes: Int {
    let info = mallinfo2()
    return Int(info.uordblks + info.hblkhd)
  }

  /// What is allocated more after many rounds than after few. The publisher falls silent: the range itself keeps what
  /// it knows of each of its packets.
  func growth(
    after few: Int, and many: Int, _ body: (Int) throws -> Void, settling settle: () -> Void
  ) rethrows -> Int {
    silence()
    for round in 0..<few { try body(round) }
    settle()
    let early = Self.allocatedBytes
    for round in few..<many { try body(round) }
    settle()
    return Self.allocatedBytes - early
  }

  /// Lets everything time out that may, and looks whether the tables have the sizes that they had.
  func expectTables(
    _ sizes: [String: Int], afterSilenceOf span: Duration = .seconds(100),
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    silence()
    run(for: span)
    let left = self.sizes()
    #expect(left == sizes, sourceLocation: sourceLocation)
  }
}

/// A participant with keys that does harm, and somebody who gets its tracks.
final class Attacker {
  /// Of its RTCP.
  static let source: UInt32 = 0xA77A_0001

  let range: AttackRange
  let member: RangeMember
  let witness: RangeMember
  let forge: Forge
  private var ssrcs: [MediaKind: UInt32] = [.audio: 0xA77A_1000, .video: 0xA77A_2000]
  private var next: [MediaKind: UInt64] = [.audio: 1_000, .video: 2_000]
  private var timestamp: UInt32 = 0

  /// - Parameter changing: the agreement with it, as the server has it.
  init(_ range: AttackRange, worker: Int = 0, changing: (inout AgreedMedia) -> Void = { _ in }) throws {
    self.range = range
    member = try range.join(
      at: range.address(onWorker: worker, host: 66), isHostile: true, watching: [range.publisher],
      changing: changing)
    range.run(for: .milliseconds(100))
    witness = try range.join(
      at: range.address(onWorker: worker, host: 67), publishes: false, isHostile: true, watching: [member])
    range.run(for: .milliseconds(400))
    forge = try Forge(member)
  }

  var address: SocketAddress { member.address }

  func ssrc(_ kind: MediaKind) -> UInt32 { ssrcs[kind]! }

  /// A key frame of one packet, or a frame of sound.
  static let keyFrame: [UInt8] =
    [0x10, 0x00, 0x00, 0x00, 0x9D, 0x01, 0x2A, 0x40, 0x01, 0xF0, 0x00] + filler(60)
  static func filler(_ count: Int) -> [UInt8] { (0..<count).map { UInt8($0 & 0x7F) } }

  /// The next packet of a track as it should be; names its section.
  func packet(_ kind: MediaKind, payload: [UInt8]? = nil, codec: Codec? = nil) throws -> ForgedRTP {
    let section = try #require(member.section(kind))
    let agreed = try #require(section.codecs.first { codec == nil || $0.codec == codec })
    let index = next[kind]!
    next[kind] = index + 1
    timestamp &+= 960
    var packet = ForgedRTP(
      payloadType: agreed.payloadType, index: index, timestamp: timestamp, ssrc: ssrc(kind),
      payload: payload ?? (kind == .audio ? Self.filler(40) : Self.keyFrame))
    packet.elements = [(section.extensions[.mid], Array(section.mid.utf8))]
    return packet
  }

  func send(_ packet: ForgedRTP) throws { range.inject(try forge.rtp(packet), from: address) }
  func sendRTCP(_ compound: [UInt8]) throws { range.inject(try forge.rtcp(compound), from: address) }

  /// Publishes as one should: the witness gets every packet.
  func publish(_ kind: MediaKind, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let before = witness.rtpReceived
    for _ in 0..<3 {
      try send(packet(kind))
      range.run(for: .milliseconds(5))
    }
    #expect(witness.rtpReceived - before == 3, sourceLocation: sourceLocation)
  }

  /// Sends one packet that should be forwarded, and tells whether it was.
  func isForwarded(_ packet: ForgedRTP) throws -> Bool {
    let before = witness.rtpReceived
    try send(packet)
    range.run(for: .milliseconds(5))
    return witness.rtpReceived == before + 1
  }
}
