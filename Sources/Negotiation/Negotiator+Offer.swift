public import Model
public import Wire

extension Negotiator {
  /// Makes an offer: everything that was agreed on, changed as the plan wants it.
  ///
  /// It is on its way until `accept` takes its answer or `withdrawOffer` takes it back.
  /// - Parameter restartICE: take `local.credentials` although others are in force.
  public mutating func offer(
    _ plan: OfferPlan, local: LocalTransport, restartICE: Bool = false, random: inout RandomSource
  ) throws(NegotiationError) -> SessionDescription {
    guard pending == nil else { throw .offerPending }
    var next = self
    let planned = try next.sections(of: plan)
    guard next.usedSSRCs.count <= Self.maximumStreams else {
      throw .tooManyStreams(limit: Self.maximumStreams)
    }
    let credentials = restartICE ? local.credentials : localCredentials ?? local.credentials

    var offer = SessionDescription(origin: next.nextOrigin(&random), isICELite: local.isLite)
    offer.shared.allowsMixedExtensions = true
    let first = planned.firstIndex(where: \.isOpen)
    for (index, section) in planned.enumerated() {
      offer.media.append(next.describe(section, local, credentials, isFirst: index == first))
    }
    let mids = planned.filter(\.isOpen).map(\.mid)
    if !mids.isEmpty { offer.groups = [GroupAttribute(semantics: "BUNDLE", mids: mids)] }
    next.pending = PendingOffer(sections: planned, description: offer, credentials: credentials)
    self = next
    return offer
  }

  /// Takes the pending offer back (RFC 8829 §4.1.10.2); its version number stays used.
  public mutating func withdrawOffer() { pending = nil }

  /// The table with the plan's sections in it.
  private mutating func sections(of plan: OfferPlan) throws(NegotiationError) -> [NegotiatedSection] {
    var planned = sections
    var tracks = plan.tracks
    var receivers: [MediaKind: Int] = [.audio: plan.audioReceivers, .video: plan.videoReceivers]
    for index in planned.indices where planned[index].isOpen {
      let isWanted: Bool
      switch planned[index].purpose {
      case .track(let track):
        let place = tracks.firstIndex { $0.ssrc == track.ssrc && $0.kind == track.kind }
        let isOver = planned[index].send == nil && spentSSRCs.contains(track.ssrc)
        isWanted = place != nil && !isOver
        if let place, isWanted { planned[index].purpose = .track(tracks.remove(at: place)) }
      case .receiver:
        let kind = MediaKind(media: planned[index].media) ?? .audio
        isWanted = receivers[kind, default: 0] > 0
        receivers[kind, default: 0] -= 1
      case nil: isWanted = true
      }
      if !isWanted { planned[index] = planned[index].closed }
    }

    // One whose slot is gone would begin again under an SSRC that was used.
    tracks.removeAll { spentSSRCs.contains($0.ssrc) }
    let places = planned.indices.filter { !sections[$0].isOpen }
    var free = places[...]
    let wanted =
      tracks.map { ($0.kind, SectionPurpose.track($0)) }
      + [MediaKind.audio, .video].flatMap { kind in
        (0..<max(0, receivers[kind] ?? 0)).map { _ in (kind, SectionPurpose.receiver) }
      }
    for (kind, purpose) in wanted {
      var section = NegotiatedSection(mid: newMid(besides: planned), media: kind.media, isOpen: true)
      section.purpose = purpose
      if let place = free.popFirst() {
        planned[place] = section
      } else {
        planned.append(section)
      }
    }
    guard planned.count <= SessionDescription.maximumSections else {
      throw .tooManySections(limit: SessionDescription.maximumSections)
    }
    for case .track(let track) in planned.compactMap(\.purpose) {
      usedSSRCs.formUnion([track.ssrc] + (track.rtxSSRC.map { [$0] } ?? []))
    }
    return planned
  }

  private mutating func newMid(besides sections: [NegotiatedSection]) -> String {
    while true {
      defer { nextMid += 1 }
      if !sections.contains(where: { $0.mid == "\(nextMid)" }) { return "\(nextMid)" }
    }
  }

  private func describe(
    _ section: NegotiatedSection, _ local: LocalTransport, _ credentials: ICECredentials, isFirst: Bool
  ) -> MediaDescription {
    guard section.isOpen, let kind = MediaKind(media: section.media) else { return .stopped(section) }
    let sends = section.announcement != nil
    let receives = section.purpose == nil ? section.receive != nil : section.purpose == .receiver
    var description = MediaDescription(
      media: section.media, port: 9, protocolName: "UDP/TLS/RTP/SAVPF", formats: [],
      mid: section.mid.isEmpty ? nil : section.mid)
    // The first of a bundle alone has candidates (RFC 8829 §5.2.1).
    local.describe(
      &description, credentials: credentials, setup: .actpass, trickles: false, listsCandidates: isFirst)
    description.shared.direction = MediaDirection(sends: sends, receives: receives)
    description.rtcpMux = true
    description.rtcpReducedSize = true

    let numbersStreams = receives || sends && policy.usesTransportFeedback
    let codecs = (section.codecs.isEmpty ? offeredCodecs(kind) : section.codecs).map { codec in
      var codec = codec
      codec.transportCC = numbersStreams
      codec.remb = false
      codec.ccfb = false
      if !receives, sends, section.announcement?.rtxSSRC == nil { codec.rtxPayloadType = nil }
      return codec
    }
    description.describe(codecs) { $0.codec.answerParameters(to: $0.formatParameters) }
    description.shared.extensions = offeredExtensions(kind).compactMap { item in
      guard item.kind == .transportSequence else {
        return ExtensionAttribute(id: UInt16(item.id), uri: item.kind.uri)
      }
      guard numbersStreams else { return nil }
      let isHalf = sends && receives && !policy.usesTransportFeedback
      return ExtensionAttribute(
        id: UInt16(item.id), direction: isHalf ? .recvonly : nil, uri: item.kind.uri)
    }
    if let announcement = section.announcement { description.announce(announcement) }
    return description
  }

  /// What we offer where nothing was agreed on before.
  private func offeredCodecs(_ kind: MediaKind) -> [NegotiatedCodec] {
    guard kind == .video else {
      let nack = policy.repairsSound
      return [
        NegotiatedCodec(
          codec: .opus, payloadType: 111, nack: nack, formatParameters: "minptime=10;useinbandfec=1"),
        NegotiatedCodec(codec: .red, payloadType: 63, formatParameters: "111/111"),
        NegotiatedCodec(codec: .g722, payloadType: 9, nack: nack),
        NegotiatedCodec(codec: .pcmu, payloadType: 0, nack: nack),
        NegotiatedCodec(codec: .pcma, payloadType: 8, nack: nack),
      ]
    }
    return policy.videoCodecs.compactMap { codec in
      let (format, number, parameters): (CodecFormat?, UInt8, String)
      switch codec {
      case .vp9: (format, number, parameters) = (.vp9(profile: 0), 98, "profile-id=0")
      case .h264:
        (format, number) = (.h264(.constrainedBaseline, mode: 1), 102)
        parameters = "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f"
      case .h265:
        (format, number) = (.h265(.main, tier: 0), 106)
        parameters = "level-id=93;profile-id=1;tier-flag=0;tx-mode=SRST"
      case .av1: (format, number, parameters) = (.av1(profile: 0), 104, "level-idx=5;profile=0;tier=0")
      default: (format, number, parameters) = (.vp8, 96, "")
      }
      return format.map {
        NegotiatedCodec(
          format: $0, payloadType: number, rtxPayloadType: number + 1, nack: true, pli: true,
          formatParameters: parameters)
      }
    }
  }

  /// The extensions of a section of ours, under the ids that are agreed on, else under free ones.
  private func offeredExtensions(_ kind: MediaKind) -> [(kind: HeaderExtension, id: UInt8)] {
    var ids = extensions
    var listed: [(kind: HeaderExtension, id: UInt8)] = []
    for known in policy.offeredExtensions {
      if ids[known] == 0, let free = (UInt8(1)...14).first(where: { ids.kind(of: $0) == nil }) {
        ids[known] = free
      }
      if ids[known] != 0, known.suits(kind) { listed.append((known, ids[known])) }
    }
    return listed
  }
}

extension NegotiatedSection {
  /// The same place, free to be taken again.
  var closed: NegotiatedSection { NegotiatedSection(mid: mid, media: media, isOpen: false) }
}

extension MediaDescription {
  /// A section at rest; the grammar wants a format.
  fileprivate static func stopped(_ section: NegotiatedSection) -> MediaDescription {
    let isMedia = MediaKind(media: section.media) != nil
    var description = MediaDescription(
      media: section.media, port: 0, protocolName: isMedia ? "UDP/TLS/RTP/SAVPF" : "UDP/DTLS/SCTP",
      formats: [isMedia ? "0" : "webrtc-datachannel"], connection: ConnectionAddress.none,
      mid: section.mid.isEmpty ? nil : section.mid)
    description.shared.direction = .inactive
    return description
  }
}
