import Crypto
import Model
import Testing
import Wire

@testable import Media
@testable import Peer
@testable import Transport

/// Sound that its publisher sends in RED and encrypts end to end: nothing is added to it and nothing taken out.
@Suite("RED of tracks that are encrypted", .timeLimit(.minutes(1)))
struct EncryptedRedundancyTests {
  private static let opus = NegotiatedCodec(codec: .opus, payloadType: 96)
  private static let red = NegotiatedCodec(codec: .red, payloadType: 97, formatParameters: "96/96")
  /// A block of Opus behind an older one; what only looks so; and what a transform makes of such a frame.
  private static let payloads: [[UInt8]] = [
    [0xEF, 0x1E, 0x00, 0x02, 0x6F, 1, 1, 3, 3, 3], [0xEF, 0, 0, 9, 0x6F, 1], [0x80], [0x6F],
    (0..<61).map { UInt8(truncatingIfNeeded: 0x9B &+ $0 * 37) }, Array(repeating: 0xFF, count: 1_100),
  ]

  /// A publisher of Opus as 111 and of RED around it as 63.
  private static func publisher(isEncrypted: Bool) throws -> ConnectedPeer {
    var section = ConnectedPeer.section(0, .audio, ssrc: 10)
    section.codecs.append(NegotiatedCodec(codec: .red, payloadType: 63, formatParameters: "111/111"))
    let far = try ConnectedPeer(AgreedMedia(receive: [section]))
    far.peer.setTraits(receiver: 0, isEncrypted ? .encrypted : [])
    return far
  }

  private final class Subscriber {
    let far: ConnectedPeer
    private var opener: SRTPOpener

    init(_ codecs: [NegotiatedCodec]) throws {
      var slot = ConnectedPeer.slot(0, .audio)
      slot.codecs = codecs
      far = try ConnectedPeer(AgreedMedia(send: [slot]))
      _ = far.peer.setSource(slot: 0, TrackKey(peer: PeerKey(home: 1, serial: 9), index: 0), clock: nil)
      opener = try SRTPOpener(keys: ConnectedPeer.near, mappedLimit: SRTPOpener.mappedCapacity)
    }

    /// What it gets of a packet that the publisher sends now, as it can be read.
    func get(_ payload: [UInt8], type: UInt8, of publisher: ConnectedPeer) throws -> (
      type: UInt8, payload: [UInt8]
    )? {
      publisher.now = publisher.now + .milliseconds(20)
      far.now = publisher.now
      let info = try #require(publisher.send(ssrc: 10, payloadType: type, payload: payload))
      publisher.plain.withUnsafeBytes { far.forward($0, info, slot: 0) }
      defer { far.context.transport.outbox.removeAll() }
      guard far.context.transport.outbox.count > 0 else { return nil }
      var bytes = Array(far.context.transport.outbox.bytes(far.context.transport.outbox[0]))
      let size = try bytes.withUnsafeMutableBytes { try opener.openRTP($0) }
      let header = try bytes.withUnsafeBytes {
        try RTPHeader(UnsafeRawBufferPointer(rebasing: $0[..<size]))
      }
      return (header.payloadType, Array(bytes[header.headerSize..<size]))
    }

    /// It reports that it has lost three of ten: enough for RED.
    /// - Returns: whether it is to get that.
    func losesPackets() throws -> Bool {
      try far.sendRTCP { writer in
        writer.append(ReceiverReport(ssrc: 50))
        _ = writer.append(ReportBlock(ssrc: 7_000, fractionLost: 77))
      }
      far.context.transport.outbox.removeAll()
      return far.peer.hasRedundancy(slot: 0)
    }

    var missing: UInt64 { far.peer.session.counters(ofSlot: 0).codecMissing }
  }

  @Test(arguments: [false, true])
  func `it goes on whole, byte by byte, also to a subscriber that loses packets`(isLossy: Bool) throws {
    let publisher = try Self.publisher(isEncrypted: true)
    let subscriber = try Subscriber([Self.opus, Self.red])
    for round in 0..<3 {
      if round == 1, isLossy { #expect(try subscriber.losesPackets()) }
      // Both go on from their bytes.
      if round == 2 {
        try publisher.rebuild()
        try subscriber.far.rebuild()
      }
      for payload in Self.payloads {
        let sent = try #require(try subscriber.get(payload, type: 63, of: publisher))
        #expect(sent.type == 97 && sent.payload == payload)
        // Between those packets some come without.
        let plain = try #require(try subscriber.get(payload, type: 111, of: publisher))
        #expect(plain.type == 96 && plain.payload == payload)
      }
    }
    #expect(subscriber.missing == 0)
  }

  @Test
  func `a subscriber without RED gets nothing of it, which is counted, and what comes without as it is`()
    throws
  {
    let publisher = try Self.publisher(isEncrypted: true)
    let subscriber = try Subscriber([Self.opus])
    let isHelped = try subscriber.losesPackets()
    #expect(!isHelped)
    for payload in Self.payloads {
      let none = try subscriber.get(payload, type: 63, of: publisher)
      #expect(none == nil)
      let plain = try #require(try subscriber.get(payload, type: 111, of: publisher))
      #expect(plain.type == 96 && plain.payload == payload)
    }
    #expect(subscriber.missing == UInt64(Self.payloads.count))
  }

  @Test func `of a track that isn't declared so blocks are added, renumbered and taken out`() throws {
    let publisher = try Self.publisher(isEncrypted: false)
    let subscriber = try Subscriber([Self.opus, Self.red])
    let plain = try Subscriber([Self.opus])
    let own = Self.payloads[0]
    let renumbered = try #require(try subscriber.get(own, type: 63, of: publisher))
    #expect(renumbered.type == 97 && renumbered.payload == [0xE0, 0x1E, 0x00, 0x02, 0x60, 1, 1, 3, 3, 3])
    let newest = try #require(try plain.get(own, type: 63, of: publisher))
    #expect(newest.type == 96 && newest.payload == [3, 3, 3])
    #expect(try subscriber.losesPackets())
    _ = try subscriber.get([7, 7], type: 111, of: publisher)
    let wrapped = try #require(try subscriber.get([8, 8], type: 111, of: publisher))
    #expect(wrapped.type == 97 && wrapped.payload.suffix(5) == [0x60, 7, 7, 8, 8])
  }
}
