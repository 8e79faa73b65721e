import Crypto
import Foundation
import ICE
import Model
import Wire

@testable import Media
@testable import Peer
@testable import Transport

/// A peer behind its handshake, with both ends' keys in the test's hands.
final class ConnectedPeer {
  static let path = NetworkPath(
    remote: SocketAddress(ipv4: 192, 0, 2, 1, port: 5_000), local: SocketAddress(ipv4: 10, 0, 0, 1, port: 1))
  static let dtls: DTLSContext? = {
    guard let certificate = try? DTLSCertificate(notBefore: 0, notAfter: 4_000_000_000) else { return nil }
    return try? DTLSContext(certificate: certificate)
  }()
  /// What the far end sends with, and what we do.
  static let far = SRTPKeys(
    profile: .aeadAES128GCM, masterKey: Array(1...16), masterSalt: Array(1...12))
  static let near = SRTPKeys(
    profile: .aeadAES128GCM, masterKey: Array(101...116), masterSalt: Array(101...112))

  var context: PeerContext
  var peer: Peer
  private var sealer = SRTPSealer(keys: far)
  private var indices: [UInt32: UInt64] = [:]
  private var rtcpIndex: UInt32 = 0
  var now = Instant(nanoseconds: 1_000_000_000)
  /// The packet that was sent last, as it is to be forwarded.
  private(set) var plain: [UInt8] = []

  init(_ media: AgreedMedia) throws {
    guard let dtls = Self.dtls else { throw StateError.invalid(field: "no certificate", offset: 0) }
    var context = PeerContext(
      epoch: Epoch(ntpAtZero: NTPTime(unixNanoseconds: 1_800_000_000_000_000_000)), dtls: dtls,
      random: .seeded(state: 1), outbox: Outbox(datagrams: 64) { $0.removeAll() })
    let setup = PeerSetup(
      key: PeerKey(home: 0, serial: 1),
      local: ICECredentials(ufrag: "a01newnewnewnew", password: "newnewnewnewnewnewnewnew"),
      remote: RemoteTransport(
        credentials: ICECredentials(ufrag: "far", password: "farfarfarfarfarfarfarfar"), fingerprints: [],
        role: .server),
      media: media, verification: .always, reportSSRC: 9, createdAt: now)
    peer = Peer(setup, context: &context)
    peer.connect(
      DTLSAssociation(role: .server, localKeys: Self.near, remoteKeys: Self.far, lastFlight: []), now: now,
      context: &context)
    peer.transport.path = Self.path
    peer.session.timers = SessionTimers()
    _ = context.takeEffects()
    self.context = context
  }

  func apply(_ media: AgreedMedia) { peer.apply(media, context: &context) }

  /// Puts the peer out and back in as bytes.
  func rebuild() throws {
    guard let state = peer.encode() else { throw StateError.invalid(field: "no state", offset: 0) }
    peer = try Peer.decode(state)
    if peer.encode() != state { throw StateError.invalid(field: "not the same again", offset: 0) }
  }

  /// A track's packet goes to a slot and leaves at once.
  func forward(_ packet: UnsafeRawBufferPointer, _ info: PacketInfo, slot: Int) {
    let reference = PacketReference(track: 0, sequence: info.extendedSequence)
    peer.select(info, reference, slot: slot, now: now, context: &context)
    while peer.nextDeparture(now: now, context: &context) != nil {
      peer.depart(packet, info, now: now, context: &context)
    }
  }

  func receives(_ ssrc: UInt32) -> Int32? { peer.session.streams.find(ssrc).map { Int32($0.section) } }
  func dropped(_ reason: TransportDrop) -> UInt64 { context.counters[reason] }
  func dropped(_ reason: SessionDrop) -> UInt64 { context.counters[reason] }
  /// The next `poll` writes the regular reports.
  func reportsAreDue() { peer.session.timers.reports = now }
  func ssrc(_ receiver: Int) -> UInt32? {
    peer.session.receiving.pointer(receiver).pointee.encoding(0).pointee.receiver.ssrc
  }

  func restarts(_ receiver: Int) -> UInt8 {
    peer.session.receiving.pointer(receiver).pointee.encoding(0).pointee.receiver.restarts
  }
  func trackKind(_ receiver: Int) -> MediaKind {
    peer.session.receiving.pointer(receiver).pointee.encoding(0).pointee.receiver.kind
  }
  func keepsPackets(slot: Int) -> Bool { peer.egress.streams.pointer(slot).pointee.kept != nil }
  func slotKind(_ slot: Int) -> MediaKind { peer.session.slots.pointer(slot).pointee.forwarder.kind }
  func kind(ofReceiver index: Int) -> MediaKind? { peer.kind(ofReceiver: index) }
  func kind(ofSlot index: Int) -> MediaKind? { peer.kind(ofSlot: index) }
  var streamCount: Int { peer.session.streams.count }
  var clockCount: Int { peer.session.clocks.names.count }
  var clockNames: [String] { peer.session.clocks.names }
  var receiverCount: Int { peer.receiverCount }
  var slotCount: Int { peer.slotCount }

  /// Seals a compound with the far end's key.
  /// - Returns: its size.
  func sealRTCP(_ buffer: UnsafeMutableRawBufferPointer, size: Int) throws -> Int {
    rtcpIndex += 1
    guard let base = buffer.baseAddress else { return 0 }
    return try sealer.sealRTCP(base, size: size, capacity: buffer.count, ssrc: 50, index: rtcpIndex)
  }

  /// Sends a sealed packet, as the far end would.
  /// - Returns: what is to be forwarded.
  @discardableResult
  func send(
    ssrc: UInt32, payloadType: UInt8, sequence: UInt16? = nil, extensions: [(UInt8, String)] = [],
    payload: [UInt8] = [0x10, 0x00, 1, 2, 3]
  ) -> PacketInfo? {
    let index = sequence.map(UInt64.init) ?? (indices[ssrc] ?? 99) + 1
    indices[ssrc] = index
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2_048, alignment: 8)
    defer { buffer.deallocate() }
    guard
      var writer = RTPWriter(
        into: buffer, marker: false, payloadType: payloadType, sequence: UInt16(truncatingIfNeeded: index),
        timestamp: UInt32(index) * 900, ssrc: ssrc)
    else { return nil }
    for (id, text) in extensions {
      guard let bytes = MIDBytes(text) else { continue }
      writer.append(id: id, bytes)
    }
    let header = writer.finish()
    buffer.baseAddress?.advanced(by: header).copyMemory(from: payload, byteCount: payload.count)
    guard let base = buffer.baseAddress,
      let size = try? sealer.sealRTP(
        base, headerSize: header, size: header + payload.count, capacity: 2_048, ssrc: ssrc, index: index)
    else { return nil }
    let outcome = peer.receive(
      UnsafeMutableRawBufferPointer(rebasing: buffer[..<size]), path: Self.path, arrival: now, now: now,
      context: &context)
    guard case .media(_, let packet, let info) = outcome else { return nil }
    plain = Array(packet)
    return info
  }

  static func section(
    _ index: UInt16, mid: String? = nil, _ kind: MediaKind = .video, ssrc: UInt32? = nil,
    rtxSSRC: UInt32? = nil, cname: String = "c", rid: String? = nil
  ) -> ReceiveSection {
    var extensions = HeaderExtensionMap()
    extensions[.mid] = 1
    extensions[.rid] = 2
    extensions[.repairedRid] = 3
    return ReceiveSection(
      index: index, mid: mid ?? "\(index)", kind: kind,
      codecs: kind == .video
        ? [NegotiatedCodec(codec: .vp8, payloadType: 96, rtxPayloadType: 97, nack: true, pli: true)]
        : [NegotiatedCodec(codec: .opus, payloadType: 111)],
      extensions: extensions, ssrc: ssrc, rtxSSRC: rtxSSRC, cname: cname, rid: rid)
  }

  static func slot(_ index: UInt16, _ kind: MediaKind = .video, ssrc: UInt32? = nil) -> SendSection {
    SendSection(
      index: index, mid: "s\(index)", kind: kind,
      codecs: [NegotiatedCodec(codec: kind == .video ? .vp8 : .opus, payloadType: 100, nack: kind == .video)],
      extensions: HeaderExtensionMap(), ssrc: ssrc ?? 7_000 + UInt32(index), rtxSSRC: nil, cname: "us",
      streamID: "s")
  }
}
