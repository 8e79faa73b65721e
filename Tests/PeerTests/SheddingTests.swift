import Model
import Testing

@testable import Media
@testable import Peer
@testable import Transport

/// How a slot goes down to a cheaper encoding that has no key frame yet.
@Suite("Over budget", .timeLimit(.minutes(1)))
struct SheddingTests {
  private static let track = TrackKey(peer: PeerKey(home: 1, serial: 9), index: 1)
  private static let packet = [UInt8](repeating: 0x80, count: 40)

  private func info(_ sequence: Int64, encoding: UInt8 = 0, temporal: UInt8 = 0, key: Bool = false)
    -> PacketInfo
  {
    var info = PacketInfo()
    info.format = .vp8
    info.primaryFormat = .vp8
    info.encoding = encoding
    info.extendedSequence = sequence
    info.timestamp = UInt32(truncatingIfNeeded: sequence * 3_000)
    info.payloadOffset = 12
    info.payloadSize = 28
    info.layer.temporal = temporal
    info.flags = key ? [.keyFrame, .frameStart] : temporal > 0 ? [.frameStart, .discardable] : [.frameStart]
    return info
  }

  private func subscriber() throws -> ConnectedPeer {
    let far = try ConnectedPeer(AgreedMedia(send: [ConnectedPeer.slot(0)]))
    _ = far.peer.setSource(slot: 0, Self.track, clock: nil)
    return far
  }

  /// Whether the subscriber gets it.
  private func isSelected(_ info: PacketInfo, _ far: ConnectedPeer) -> Bool {
    let packet = PacketReference(track: 3, sequence: info.extendedSequence)
    far.peer.select(info, packet, slot: 0, now: far.now, context: &far.context)
    guard let next = far.peer.nextDeparture(now: far.now, context: &far.context) else { return false }
    Self.packet.withUnsafeBytes { far.peer.depart($0, info, now: far.now, context: &far.context) }
    return next.sequence == info.extendedSequence
  }

  private func wantsLower(_ far: ConnectedPeer, _ encoding: UInt8 = 1, sheds: Bool = true) -> Bool {
    far.peer.setLayers(slot: 0, of: encoding, spatial: .max, temporal: .max, sheds: sheds, now: far.now)
  }

  @Test func `the old one is shown at its lowest frame rate meanwhile, and given up after half a second`()
    throws
  {
    let far = try subscriber()
    #expect(isSelected(info(100, key: true), far) && isSelected(info(101, temporal: 1), far))
    far.peer.setNextEncoding(slot: 0, 1, clock: nil)
    #expect(!wantsLower(far))
    #expect(isSelected(info(102), far) && !isSelected(info(103, temporal: 1), far))
    far.now = far.now + .milliseconds(499)
    #expect(!wantsLower(far) && isSelected(info(104), far))
    far.now = far.now + .milliseconds(1)
    #expect(wantsLower(far))
    let isGivenUp = far.peer.giveUpEncoding(slot: 0)
    #expect(isGivenUp)
    #expect(!isSelected(info(105), far) && far.peer.needsKeyFrame(slot: 0))
    #expect(!isSelected(info(200, encoding: 1), far) && isSelected(info(201, encoding: 1, key: true), far))
  }

  @Test func `a key frame of the lower one within that time ends it, and the next time begins from there`()
    throws
  {
    let far = try subscriber()
    #expect(isSelected(info(100, key: true), far))
    far.peer.setNextEncoding(slot: 0, 1, clock: nil)
    #expect(!wantsLower(far))
    far.now = far.now + .milliseconds(400)
    #expect(
      isSelected(info(200, encoding: 1, key: true), far)
        && isSelected(info(201, encoding: 1, temporal: 1), far))
    #expect(!isSelected(info(102), far))
    // As the worker says from then on.
    #expect(!wantsLower(far, sheds: false))
    far.now = far.now + .seconds(5)
    #expect(!wantsLower(far, 0))
  }
}
