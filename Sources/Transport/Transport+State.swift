public import ICE
public import Model

/// Counted apart from the generic type, which can have no stored static.
@usableFromInline let transportStateVersion: UInt8 = 1

extension Transport where Agent: ~Copyable {
  /// Writes everything but rates: a transport read from it goes on as this one would have.
  /// - Returns: false, with the bytes of no use, in the middle of a handshake and after the transport's end.
  @inlinable
  public func encode(into writer: inout StateWriter) -> Bool {
    guard end == nil else { return false }
    writer.write(transportStateVersion)
    writer.write(createdAt)
    writer.write(path)
    agent.encode(into: &writer)
    return dtls.encode(into: &writer)
  }

  @inlinable
  public init(from reader: inout StateReader) throws(StateError) {
    _ = try reader.version("transport", upTo: transportStateVersion)
    let createdAt = try reader.instant()
    let path = try reader.optionalPath()
    self.init(
      agent: try Agent(from: &reader), dtls: try DTLSTransport.decode(&reader), createdAt: createdAt,
      path: path)
  }

  @inlinable
  init(agent: consuming Agent, dtls: consuming DTLSTransport, createdAt: Instant, path: NetworkPath?) {
    self.agent = agent
    self.dtls = dtls
    self.createdAt = createdAt
    self.path = path
    end = nil
    traffic = TrafficTally(since: createdAt)
  }
}
