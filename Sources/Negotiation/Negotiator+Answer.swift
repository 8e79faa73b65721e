public import Model
public import Wire

extension Negotiator {
  /// Answers an offer: accepts what we can carry on one transport and declines the rest, section by section.
  ///
  /// - Parameters:
  ///   - forbidden: sections, from 0, in which the far end may not send what it wants to; they are declined.
  ///   - direction: ours at most; what an offer wants beyond is left out of the answer.
  /// - Throws: if the offer as a whole can't be taken; nothing has changed then.
  public mutating func answer(
    to offer: SessionDescription, local: LocalTransport, forbidden: Set<Int> = [],
    direction: MediaDirection = .sendrecv, random: inout RandomSource
  ) throws(NegotiationError) -> Answer {
    guard pending == nil else { throw .offerPending }
    guard offer.media.count <= policy.maximumSections else {
      throw .tooManySections(limit: policy.maximumSections)
    }
    var next = self
    let answer = try next.takeOffer(offer, local, forbidden, direction, &random)
    self = next
    return answer
  }

  private mutating func takeOffer(
    _ offer: SessionDescription, _ local: LocalTransport, _ forbidden: Set<Int>, _ direction: MediaDirection,
    _ random: inout RandomSource
  ) throws(NegotiationError) -> Answer {
    try checkContinuity(of: offer)
    let codecs = offer.media.map { SectionCodecs(of: $0, policy) }
    let bundle = BundleChoice(
      of: offer, acceptable: zip(offer.media, codecs).map { !$0.isStopped && $1.refusal == nil })
    var reading = OfferReading(
      offer, codecs: codecs, members: Set(bundle.members), forbidden: forbidden, direction: direction,
      ids: ExtensionIDs(agreed: extensions))
    var verdicts = offer.media.indices.map { take($0, &reading, &random) }
    extensions = reading.ids.agreed
    if let first = bundle.members.first, bundle.isGroup, let reason = verdicts[first].carriedReason,
      verdicts.contains(where: \.isBundled)
    {
      verdicts[first] = .carrier(reason)
      sections[first].isOpen = true
    }

    var answer = SessionDescription(origin: nextOrigin(&random), isICELite: local.isLite)
    answer.shared.allowsMixedExtensions = offer.shared.allowsMixedExtensions
    let bundled = bundle.members.filter { verdicts[$0].isBundled }
    let transport = try bundled.first.map { (first) throws(NegotiationError) in
      try adopt(
        offer, section: first, members: bundle.members, isOffer: true, credentials: local.credentials)
    }
    if bundle.isGroup, !bundled.isEmpty {
      answer.groups = [GroupAttribute(semantics: "BUNDLE", mids: bundled.compactMap { offer.media[$0].mid })]
    }
    for (index, section) in offer.media.enumerated() {
      var description = sections[index].answer(to: section, offer.attributes(of: section), verdicts[index])
      // Every section has the whole transport, candidates too, and so do sections that are declined or stopped.
      // RFC 8829 §5.3.1 wants candidates in the first of a bundle alone and nothing in the others of port 0, but
      // both are ignored there (RFC 9143 §7.3.3, RFC 3264 §6), and some clients need them: aiortc takes
      // the candidates of the last section, and refuses an answer in which one section has no credentials, codecs
      // or `rtcp-mux`.
      #if PLANTED_DEFECTS
        let isListed = !PlantedDefect.isOn(.candidatesFirst) || index == 0
      #else
        let isListed = true
      #endif
      if let transport {
        let port = description.port
        local.describe(
          &description, credentials: transport.localCredentials,
          setup: transport.remote.role == .server ? .passive : .active,
          trickles: offer.attributes(of: section).iceOptions.contains("trickle"), listsCandidates: isListed)
        if !verdicts[index].isBundled { description.port = port }
      }
      answer.media.append(description)
    }
    let results = zip(verdicts, sections).map { SectionResult(mid: $1.mid, outcome: $0.outcome(of: $1)) }
    return Answer(
      description: answer, agreement: Agreement(transport: transport, media: media, sections: results))
  }

  /// Takes one section into the table, or finds why not.
  private mutating func take(
    _ index: Int, _ reading: inout OfferReading, _ random: inout RandomSource
  ) -> SectionVerdict {
    let section = reading.offer.media[index]
    if index >= sections.count { sections.append(.closed(section)) }
    do throws(DeclineReason) {
      if !section.isStopped {
        let terms = try reading.terms(of: index, policy)
        try update(index, section, terms, &reading, &random)
        return .accepted(terms)
      }
    } catch {
      sections[index] = .closed(section)
      return .declined(error)
    }
    sections[index] = .closed(section)
    return .stopped
  }

  /// Brings a section of the table up to date with what was agreed on now.
  private mutating func update(
    _ index: Int, _ section: MediaDescription, _ terms: SectionTerms, _ reading: inout OfferReading,
    _ random: inout RandomSource
  ) throws(DeclineReason) {
    var entry = sections[index]
    if !entry.isOpen { entry = NegotiatedSection(mid: section.mid ?? "", media: section.media, isOpen: true) }
    let mayReceive = !terms.receives || entry.receive != nil || nextReceiveIndex < Self.maximumIndices
    let mayPublish =
      !terms.receives || entry.receive != nil || sections.count { $0.receive != nil } < policy.maximumTracks
    let maySend = !terms.sends || entry.send != nil || nextSendIndex < Self.maximumIndices
    guard mayReceive, mayPublish, maySend else { throw .limit }

    let previous = entry.receive
    entry.receive = nil
    let sources = try reading.claims.claim(section, terms)
    if terms.receives {
      entry.receive = ReceiveSection(
        index: previous?.index ?? nextReceiveIndex, mid: entry.mid, kind: terms.kind,
        codecs: terms.receiveCodecs,
        extensions: terms.receiveExtensions, encodings: sources.encodings, cname: sources.cname)
      if previous == nil { nextReceiveIndex += 1 }
    }
    if terms.sends {
      open(&entry, terms, avoiding: reading.remoteSSRCs, &random)
    } else {
      entry.endSlot()
    }
    entry.codecs = terms.announcedCodecs
    entry.allowsReducedSizeRTCP = section.rtcpReducedSize
    sections[index] = entry
    reading.adopt(index, terms)
  }

  /// Opens a slot, or keeps the one that is there.
  private mutating func open(
    _ entry: inout NegotiatedSection, _ terms: SectionTerms, avoiding remote: Set<UInt32>,
    _ random: inout RandomSource
  ) {
    let retransmits = terms.sendCodecs.contains { $0.rtxPayloadType != nil }
    if var slot = entry.send {
      slot.codecs = terms.sendCodecs
      slot.extensions = terms.sendExtensions
      slot.allowsMixedExtensions = terms.allowsMixedExtensions
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.rtxDrawnAgain) { entry.rtxSSRC = slot.rtxSSRC }
      #endif
      if retransmits, entry.rtxSSRC == nil { entry.rtxSSRC = newSSRC(avoiding: remote, &random) }
      slot.rtxSSRC = retransmits ? entry.rtxSSRC : nil
      entry.send = slot
      return
    }
    // Another stream than what an offer of ours may have announced here.
    entry.endSlot()
    let number = freePair(of: terms.kind, &random)
    entry.pair = number
    entry.trackID = "\(pairs[number].streamID)-\(terms.kind.media)"
    let ssrc = newSSRC(avoiding: remote, &random)
    entry.rtxSSRC = retransmits ? newSSRC(avoiding: remote, &random) : nil
    entry.send = SendSection(
      index: nextSendIndex, mid: entry.mid, kind: terms.kind, codecs: terms.sendCodecs,
      extensions: terms.sendExtensions, ssrc: ssrc, rtxSSRC: entry.rtxSSRC, cname: pairs[number].cname,
      streamID: pairs[number].streamID, allowsMixedExtensions: terms.allowsMixedExtensions)
    spentSSRCs.insert(ssrc)
    nextSendIndex += 1
  }

  /// The first pair that has no slot of this kind.
  private mutating func freePair(of kind: MediaKind, _ random: inout RandomSource) -> Int {
    let taken = Set(sections.filter { $0.send?.kind == kind }.compactMap(\.pair))
    let number = (0...).first { !taken.contains($0) } ?? 0
    while pairs.count <= number {
      pairs.append(SlotPair(streamID: random.alphanumeric(20), cname: random.alphanumeric(16)))
    }
    return number
  }
}

/// What is gathered while the sections of an offer are read one by one.
private struct OfferReading {
  let offer: SessionDescription
  /// For each section.
  let codecs: [SectionCodecs]
  let members: Set<Int>
  let forbidden: Set<Int>
  /// Ours at most.
  let direction: MediaDirection
  /// All that the offer announces, for whatever direction.
  let remoteSSRCs: Set<UInt32>
  var ids: ExtensionIDs
  var claims = SourceClaims()

  init(
    _ offer: SessionDescription, codecs: [SectionCodecs], members: Set<Int>, forbidden: Set<Int>,
    direction: MediaDirection, ids: ExtensionIDs
  ) {
    self.offer = offer
    self.codecs = codecs
    self.members = members
    self.forbidden = forbidden
    self.direction = direction
    self.ids = ids
    remoteSSRCs = Set(offer.media.flatMap { $0.ssrcs.map(\.ssrc) + $0.ssrcGroups.flatMap(\.ssrcs) })
  }

  func terms(of index: Int, _ policy: NegotiationPolicy) throws(DeclineReason) -> SectionTerms {
    let section = offer.media[index]
    if let reason = codecs[index].refusal { throw reason }
    guard members.contains(index) else { throw .notBundled }
    #if PLANTED_DEFECTS
      let forbidden = PlantedDefect.isOn(.forbiddenSection) ? [] : self.forbidden
    #endif
    guard !forbidden.contains(index) else { throw .notAllowed }
    let attributes = offer.attributes(of: section)
    return try SectionTerms(
      of: section, attributes,
      direction: (attributes.direction ?? .sendrecv).reversed.narrowed(to: direction), codecs: codecs[index],
      policy: policy, ids: ids,
      mayBeSimulcast: true)
  }

  mutating func adopt(_ index: Int, _ terms: SectionTerms) {
    ids.adopt(terms, listing: offer.attributes(of: offer.media[index]).extensions)
  }
}

/// What becomes of a section that is offered.
private enum SectionVerdict: Equatable {
  case accepted(SectionTerms)
  /// Nothing flows in it, but it is the one that the offer hangs the bundle's transport on: it stays, inactive.
  /// Chromium under `max-bundle` can't set an answer that declines it by port 0.
  case carrier(DeclineReason)
  case declined(DeclineReason)
  case stopped

  var isBundled: Bool {
    switch self {
    case .accepted, .carrier: true
    case .declined, .stopped: false
    }
  }

  /// Why nothing flows, of a section that can carry the transport all the same: its line itself is sound.
  var carriedReason: DeclineReason? {
    switch self {
    case .declined(let reason) where reason == .codec || reason == .notAllowed: reason
    default: nil
    }
  }

  func outcome(of section: NegotiatedSection) -> SectionResult.Outcome {
    switch self {
    case .accepted: .accepted(receive: section.receive?.index, send: section.send?.index)
    case .carrier(let reason): .declined(reason)
    case .declined(let reason): .declined(reason)
    case .stopped: .stopped
    }
  }
}

extension NegotiatedSection {
  /// Nothing is sent here any more: what is next begins as another stream.
  fileprivate mutating func endSlot() {
    send = nil
    pair = nil
    rtxSSRC = nil
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.trackKept) { return }
    #endif
    if case .track = purpose { purpose = nil }
  }

  /// Our answer to a section, without its transport.
  fileprivate func answer(
    to offered: MediaDescription, _ attributes: SharedAttributes, _ verdict: SectionVerdict
  ) -> MediaDescription {
    var answer = MediaDescription(
      media: offered.media, port: 0, protocolName: offered.protocolName, formats: offered.formats,
      connection: ConnectionAddress.none, mid: offered.mid)
    answer.shared.direction = .inactive
    answer.rtcpMux = verdict.isBundled || offered.rtcpMux
    if verdict.isBundled { answer.rtcpReducedSize = offered.rtcpReducedSize }
    guard case .accepted(let terms) = verdict else {
      answer.keepFirstFormat(of: offered)
      return answer
    }
    answer.shared.direction = MediaDirection(sends: terms.sends, receives: terms.receives)
    answer.shared.extensions = terms.announcedExtensions
    answer.shared.allowsMixedExtensions = offered.shared.allowsMixedExtensions
    answer.describe(terms.announcedCodecs) { $0.codec.answerParameters(to: $0.formatParameters) }
    if !terms.rids.isEmpty {
      answer.rids = terms.rids.map {
        RIDAttribute(rid: $0.rid, direction: .recv, restrictions: $0.restrictions)
      }
      answer.simulcast = SimulcastAttribute(receive: terms.rids.map { [.init(rid: $0.rid)] })
    }
    if let announcement { answer.announce(announcement) }
    return answer
  }
}

extension MediaDescription {
  /// One of the offered formats, in which nothing will be sent: the grammar wants one, and clients look for one
  /// that they know.
  fileprivate mutating func keepFirstFormat(of offered: MediaDescription) {
    guard let payloadType = offered.payloadTypes.first else { return }
    formats = ["\(payloadType)"]
    rtpMaps = offered.rtpMap(of: payloadType).map { [$0] } ?? []
    formatParameters =
      offered.parameters(of: payloadType).flatMap {
        $0.parameters.utf8.count <= FormatParameters.maximumBytes ? [$0] : nil
      } ?? []
  }

  /// Announces a stream of ours (RFC 8829 §5.2.1).
  mutating func announce(_ track: TrackAnnouncement) {
    streams = [StreamAttribute(streamID: track.streamID, trackID: track.trackID)]
    let numbers = [track.ssrc] + (track.rtxSSRC.map { [$0] } ?? [])
    if numbers.count == 2 { ssrcGroups = [SSRCGroupAttribute(semantics: "FID", ssrcs: numbers)] }
    ssrcs = numbers.map { SSRCAttribute(ssrc: $0, name: "cname", attributeValue: track.cname) }
  }
}
