internal import Congestion
internal import Crypto
internal import ICE
internal import Media
public import Model

extension Peer {
  private static let stateVersion: UInt16 = 5

  /// The peer as bytes; whoever holds them goes on exactly where it stood.
  /// - Returns: nil in the middle of a handshake, which lives inside OpenSSL, and after the peer's end.
  public func encode() -> [UInt8]? {
    guard closed == nil, handshake == nil else { return nil }
    var writer = StateWriter()
    writer.write(Self.stateVersion)
    writer.write(key.rawValue)
    writer.write(reportSSRC)
    writer.write(createdAt)
    writer.write(role.rawValue)
    fingerprints.encode(into: &writer)
    media.encode(into: &writer)
    ice.encode(into: &writer)
    writer.write(association != nil)
    association?.encode(into: &writer)
    Self.write(dtlsPath, &writer)
    Self.write(selectedPath, &writer)
    // There is one exactly when there is an association. `opener!` crashes the optimiser of Swift 6.3.1 here.
    switch opener {
    case .some(let opener): opener.encode(into: &writer)
    case .none: break
    }
    for section in media.receive {
      receiving.pointer(Int(section.index)).pointee.receiver.encode(into: &writer)
    }
    for section in media.send { senders.pointer(Int(section.index)).pointee.encode(into: &writer) }
    arrivals.encode(into: &writer)
    writer.write(feedbackSSRC)
    writer.write(UInt32(clocks.count))
    for index in clocks.indices {
      writer.write(clockNames[index])
      clocks[index].encode(into: &writer)
    }
    writer.write(rtcpIndex)
    writer.write(reportsDue)
    writer.write(clockReportsDue)
    writer.write(feedbackDue)
    writer.write(roundTrip.wholeNanoseconds)
    loss.encode(into: &writer)
    writer.write(isResettling)
    return writer.bytes
  }

  /// The peer that `encode` wrote.
  /// - Throws: for bytes that no `encode` of this version made.
  public static func decode(_ bytes: [UInt8]) throws(StateError) -> Peer {
    var reader = StateReader(bytes)
    let version: UInt16 = try reader.integer()
    guard version == stateVersion else {
      throw .invalid(field: "peer state version \(version), not \(stateVersion)", offset: 0)
    }
    let key = PeerKey(rawValue: try reader.integer())
    let reportSSRC: UInt32 = try reader.integer()
    let createdAt = try reader.instant()
    guard let role = DTLSRole(rawValue: try reader.integer()) else {
      throw .invalid(field: "DTLS role", offset: reader.offset)
    }
    let fingerprints = try [Fingerprint](from: &reader)
    let media = try AgreedMedia(from: &reader)
    var peer = Peer(
      key: key, role: role, fingerprints: fingerprints, reportSSRC: reportSSRC, createdAt: createdAt,
      ice: try ServerAgent(from: &reader))
    peer.media = media
    if try reader.bool() {
      let association = try DTLSAssociation(from: &reader)
      peer.sealer = SRTPSealer(keys: association.localKeys)
      peer.profile = association.profile
      peer.association = association
    }
    peer.dtlsPath = try readPath(&reader)
    peer.selectedPath = try readPath(&reader)
    if peer.profile != nil { peer.opener = try SRTPOpener(from: &reader) }
    for section in media.receive {
      guard section.index < sectionLimit else { throw .invalid(field: "track index", offset: reader.offset) }
      peer.holdReceivers(below: Int(section.index) + 1)
      peer.receiving.pointer(Int(section.index)).pointee.receiver = try TrackReceiver(section, from: &reader)
    }
    for section in media.send {
      guard section.index < sectionLimit else { throw .invalid(field: "slot index", offset: reader.offset) }
      peer.holdSenders(below: Int(section.index) + 1)
      let sender = try SlotSender(section, from: &reader)
      peer.senders.pointer(Int(section.index)).pointee = sender
    }
    peer.arrivals = try ArrivalFeedback(from: &reader)
    peer.feedbackSSRC = try reader.integer()
    for _ in 0..<(try reader.count(limit: 1_024)) {
      peer.clockNames.append(try reader.string(limit: 1_024))
      peer.clocks.append(try PublisherClock(from: &reader))
    }
    peer.rtcpIndex = try reader.integer()
    peer.reportsDue = try reader.instant()
    peer.clockReportsDue = try reader.instant()
    peer.feedbackDue = try reader.instant()
    peer.roundTrip = .nanoseconds(try reader.integer(Int64.self))
    peer.loss = try LossTally(from: &reader)
    peer.isResettling = try reader.bool()
    try reader.finish()
    peer.indexSections()
    return peer
  }

  private static func write(_ path: NetworkPath?, _ writer: inout StateWriter) {
    writer.write(path != nil)
    if let path { writer.write(path) }
  }

  private static func readPath(_ reader: inout StateReader) throws(StateError) -> NetworkPath? {
    try reader.bool() ? try reader.path() : nil
  }
}
