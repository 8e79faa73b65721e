import Foundation
import Model
import Testing

@testable import Media
@testable import Peer
@testable import Transport

/// `Fuzz/Corpus/peer-state` begins with what peers of today write: an input of another version ends at its first two
/// bytes, and so would all that is made of it.
@Suite("The corpus of peer state", .timeLimit(.minutes(2)))
struct StateCorpusTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Fuzz/Corpus/peer-state")
  /// Mutations are cut behind this.
  private static let largest = 4_096

  /// Peers with as much in them as fits, by the names of their files.
  private static func peers() throws -> [String: ConnectedPeer] {
    typealias Far = ConnectedPeer
    let publisher = try Far(
      AgreedMedia(
        receive: [Far.section(0, ssrc: 1, rtxSSRC: 2), Far.section(1, .audio, ssrc: 3, cname: "d")],
        allowsReducedSizeRTCP: true))
    for sequence in [100, 101, 104] as [UInt16] {
      publisher.send(ssrc: 1, payloadType: 96, sequence: sequence)
    }
    publisher.send(ssrc: 3, payloadType: 111)
    publisher.peer.requestKeyFrame(receiver: 0)

    let muted = try Far(AgreedMedia(receive: [Far.section(3, ssrc: 5)]))
    muted.send(ssrc: 5, payloadType: 96)
    muted.peer.setMuted(receiver: 3, true)

    let simulcast = try Far(AgreedMedia(receive: [Far.section(0, rid: "hi")]))
    simulcast.send(ssrc: 7, payloadType: 96, extensions: [(1, "0"), (2, "hi")])

    let subscriber = try Far(AgreedMedia(send: [Far.slot(0)]))
    _ = subscriber.peer.setSource(
      slot: 0, TrackKey(peer: PeerKey(home: 1, serial: 9), index: 1),
      clock: ClockMapping(timestamp: 4, ntp: NTPTime(rawValue: 1 << 40), rate: 90_000, isReported: true))
    if let info = publisher.send(ssrc: 1, payloadType: 96) {
      let packet = [UInt8](repeating: 0x80, count: Int(info.payloadOffset) + Int(info.payloadSize))
      packet.withUnsafeBytes { subscriber.forward($0, info, slot: 0) }
    }

    let voice = try Far(AgreedMedia(send: [Far.slot(0, .audio)]))
    let idle = try Far(AgreedMedia())
    return [
      "publisher": publisher, "muted": muted, "simulcast": simulcast, "subscriber": subscriber,
      "voice": voice,
      "connected": idle,
    ]
  }

  /// With `ROOST_WRITE_CORPUS=1` in the environment it is made again: after each change of what a peer writes.
  @Test func `it holds at least six inputs that are peers from the first byte to the last`() throws {
    if ProcessInfo.processInfo.environment["ROOST_WRITE_CORPUS"] == "1" {
      for (name, far) in try Self.peers() {
        let encoded = far.peer.encode()
        let state = try #require(encoded)
        try Data(state).write(to: Self.folder.appending(path: name))
      }
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    var whole = 0
    for name in names {
      let bytes = Array(try Data(contentsOf: Self.folder.appending(path: name)))
      guard bytes.count <= Self.largest, let peer = try? Peer.decode(bytes) else { continue }
      let again = peer.encode()
      #expect(again == bytes, "\(name) is written as it was read")
      whole += 1
    }
    #expect(
      whole >= 6,
      "make it again: ROOST_WRITE_CORPUS=1 swift test --filter StateCorpusTests")
  }

  @Test func `each of the peers that it is made of goes on from its bytes`() throws {
    for (name, far) in try Self.peers() {
      let encoded = far.peer.encode()
      let state = try #require(encoded)
      #expect(state.count <= Self.largest, "\(name) has \(state.count) bytes")
      try far.rebuild()
    }
  }
}
