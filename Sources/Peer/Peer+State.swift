internal import ICE
internal import Media
public import Model
internal import Transport

extension Peer {
  /// Those below were written as one.
  private static let oldestStateVersion: UInt8 = 6
  private static let stateVersion: UInt8 = 6

  /// The peer as bytes: what is made of them goes on exactly where it stood. Each of its parts writes a version of its
  /// own.
  /// - Returns: nil in the middle of a handshake, which lives inside OpenSSL, and after the peer's end.
  public func encode() -> [UInt8]? {
    var writer = StateWriter()
    writer.write(Self.stateVersion)
    writer.write(key.rawValue)
    guard transport.encode(into: &writer) else { return nil }
    session.encode(into: &writer)
    egress.encode(session.agreed.send, into: &writer)
    return writer.bytes
  }

  /// The peer that `encode` wrote.
  /// - Throws: for bytes that no `encode` of a version known here made.
  public static func decode(_ bytes: [UInt8]) throws(StateError) -> Peer {
    var reader = StateReader(bytes)
    _ = try reader.version("peer", from: oldestStateVersion, upTo: stateVersion)
    let key = PeerKey(rawValue: try reader.integer())
    var transport = try Transport<ServerAgent>(from: &reader)
    var changes: [StreamChange] = []
    let session = try MediaSession.decode(&reader, changes: &changes)
    for change in changes where change.isMapped { transport.keepStream(change.ssrc) }
    var peer = Peer(key: key, transport: transport, session: session)
    peer.egress = try Egress(peer.session.agreed.send, from: &reader)
    try reader.finish()
    return peer
  }

  /// Goes on as the peer that `encode` wrote.
  /// - Throws: as `decode`; the peer is as it was then.
  public mutating func goOn(from bytes: [UInt8]) throws(StateError) { self = try Self.decode(bytes) }
}
