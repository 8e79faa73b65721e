public import Model
internal import Wire

/// A line of a description is no longer.
private let textLimit = 8 * 1_024
/// A description of ours.
private let descriptionLimit = 1_024 * 1_024

extension Negotiator {
  /// 2: what slots have sent under, and their retransmissions' SSRCs while they have none.
  private static let stateVersion: UInt8 = 2

  /// The first byte is the version of what follows.
  public func encode(into writer: inout StateWriter) {
    writer.write(Self.stateVersion)
    writer.write(UInt32(sections.count))
    for section in sections { section.encode(into: &writer) }
    writer.write(remote != nil)
    if let remote {
      remote.credentials.encode(into: &writer)
      remote.fingerprints.encode(into: &writer)
      writer.write(remote.role.rawValue)
    }
    extensions.encode(into: &writer)
    writer.write(UInt32(pairs.count))
    for pair in pairs {
      writer.write(pair.streamID)
      writer.write(pair.cname)
    }
    writer.write(UInt32(usedSSRCs.count))
    for ssrc in usedSSRCs.sorted() { writer.write(ssrc) }
    writer.write(UInt32(spentSSRCs.count))
    for ssrc in spentSSRCs.sorted() { writer.write(ssrc) }
    writer.write(nextReceiveIndex)
    writer.write(nextSendIndex)
    writer.write(UInt32(nextMid))
    writer.write(localCredentials != nil)
    localCredentials?.encode(into: &writer)
    writer.write(optional: sessionID)
    writer.write(version)
    writer.write(pending != nil)
    if let pending {
      writer.write(UInt32(pending.sections.count))
      for section in pending.sections { section.encode(into: &writer) }
      writer.write(pending.description.text)
      pending.credentials.encode(into: &writer)
    }
  }

  /// - Parameter policy: of this process; it is no part of the state.
  public init(from reader: inout StateReader, policy: NegotiationPolicy) throws(StateError) {
    self.init(policy: policy)
    let version = try reader.version("negotiation", upTo: Self.stateVersion)
    sections = try Self.sections(&reader, version)
    if try reader.bool() {
      remote = RemoteTransport(
        credentials: try ICECredentials(from: &reader), fingerprints: try [Fingerprint](from: &reader),
        role: try reader.value("DTLS role"))
    }
    extensions = try HeaderExtensionMap(from: &reader)
    for _ in 0..<(try reader.count(limit: Int(Self.maximumIndices))) {
      pairs.append(
        SlotPair(
          streamID: try reader.string(limit: textLimit), cname: try reader.string(limit: textLimit)))
    }
    // Two for each index, and those of offers that came to nothing.
    for _ in 0..<(try reader.count(limit: 64 * Int(Self.maximumIndices))) {
      usedSSRCs.insert(try reader.integer())
    }
    if version == 1 {
      // Which of them were used isn't known: none is used again.
      spentSSRCs = usedSSRCs
    } else {
      for _ in 0..<(try reader.count(limit: 64 * Int(Self.maximumIndices))) {
        spentSSRCs.insert(try reader.integer())
      }
    }
    nextReceiveIndex = try reader.integer()
    nextSendIndex = try reader.integer()
    nextMid = Int(try reader.integer(UInt32.self))
    if try reader.bool() { localCredentials = try ICECredentials(from: &reader) }
    sessionID = try reader.optionalInteger()
    self.version = try reader.integer()
    guard try reader.bool() else { return }
    let planned = try Self.sections(&reader, version)
    let start = reader.offset
    let text = try reader.string(limit: descriptionLimit)
    guard let description = try? SessionDescription(parsing: text) else {
      throw .invalid(field: "pending offer", offset: start)
    }
    pending = PendingOffer(
      sections: planned, description: description, credentials: try ICECredentials(from: &reader))
  }

  private static func sections(
    _ reader: inout StateReader, _ version: UInt8
  ) throws(StateError) -> [NegotiatedSection] {
    var sections: [NegotiatedSection] = []
    for _ in 0..<(try reader.count(limit: SessionDescription.maximumSections)) {
      sections.append(try NegotiatedSection(from: &reader, version))
    }
    return sections
  }
}

extension NegotiatedSection {
  fileprivate func encode(into writer: inout StateWriter) {
    writer.write(mid)
    writer.write(media)
    writer.write(isOpen)
    AgreedMedia(receive: receive.map { [$0] } ?? [], send: send.map { [$0] } ?? []).encode(into: &writer)
    writer.write(UInt32(codecs.count))
    for codec in codecs { codec.encode(into: &writer) }
    writer.write(allowsReducedSizeRTCP)
    writer.write(trackID)
    writer.write(optional: pair.map { UInt32($0) })
    writer.write(optional: rtxSSRC)
    switch purpose {
    case nil: writer.write(UInt8(0))
    case .receiver: writer.write(UInt8(1))
    case .track(let track):
      writer.write(UInt8(2))
      track.encode(into: &writer)
    }
  }

  fileprivate init(from reader: inout StateReader, _ version: UInt8) throws(StateError) {
    self.init(
      mid: try reader.string(limit: textLimit), media: try reader.string(limit: textLimit),
      isOpen: try reader.bool())
    let agreed = try AgreedMedia(from: &reader)
    receive = agreed.receive.first
    send = agreed.send.first
    for _ in 0..<(try reader.count(limit: 128)) { codecs.append(try NegotiatedCodec(from: &reader)) }
    allowsReducedSizeRTCP = try reader.bool()
    trackID = try reader.string(limit: textLimit)
    pair = try reader.optionalInteger(UInt32.self).map { Int($0) }
    rtxSSRC = version == 1 ? send?.rtxSSRC : try reader.optionalInteger()
    let start = reader.offset
    switch try reader.integer(UInt8.self) {
    case 0: break
    case 1: purpose = .receiver
    case 2: purpose = .track(try TrackAnnouncement(from: &reader))
    default: throw .invalid(field: "purpose", offset: start)
    }
  }
}

extension TrackAnnouncement {
  public func encode(into writer: inout StateWriter) {
    writer.write(kind.rawValue)
    writer.write(ssrc)
    writer.write(optional: rtxSSRC)
    writer.write(cname)
    writer.write(streamID)
    writer.write(trackID)
  }

  public init(from reader: inout StateReader) throws(StateError) {
    self.init(
      kind: try reader.value("media kind"), ssrc: try reader.integer(),
      rtxSSRC: try reader.optionalInteger(), cname: try reader.string(limit: textLimit),
      streamID: try reader.string(limit: textLimit), trackID: try reader.string(limit: textLimit))
  }
}

extension ICECredentials {
  fileprivate func encode(into writer: inout StateWriter) {
    writer.write(ufrag)
    writer.write(password)
  }

  fileprivate init(from reader: inout StateReader) throws(StateError) {
    self.init(ufrag: try reader.string(limit: textLimit), password: try reader.string(limit: textLimit))
  }
}
