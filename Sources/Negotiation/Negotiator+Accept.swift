import Model
public import Wire

extension Negotiator {
  /// Takes the answer to our pending offer.
  ///
  /// - Throws: if the answer does not fit; the offer then stays pending.
  public mutating func accept(_ answer: SessionDescription) throws(NegotiationError) -> Agreement {
    guard let offered = pending else { throw .noOfferPending }
    var next = self
    next.pending = nil
    next.sections = offered.sections
    let agreement = try next.take(answer, to: offered)
    self = next
    return agreement
  }

  private mutating func take(
    _ answer: SessionDescription, to offered: PendingOffer
  ) throws(NegotiationError) -> Agreement {
    let offer = offered.description
    guard answer.media.count == offer.media.count else {
      throw .answerMismatch(
        section: min(answer.media.count, offer.media.count),
        .sectionCount(offered: offer.media.count, answered: answer.media.count))
    }
    let bundle = BundleChoice(of: answer, acceptable: answer.media.map { $0.port != 0 })
    var ids = ExtensionIDs(agreed: extensions)
    var claims = SourceClaims()
    var results: [SectionResult] = []
    for (index, section) in answer.media.enumerated() {
      let ours = offer.media[index]
      guard section.media == ours.media else {
        throw .answerMismatch(section: index, .media(offered: ours.media, answered: section.media))
      }
      guard section.port != 0 else {
        results.append(
          SectionResult(mid: ours.mid ?? "", outcome: ours.isStopped ? .stopped : .declined(.refused)))
        sections[index] = sections[index].closed
        continue
      }
      guard section.mid ?? "" == ours.mid ?? "" else {
        throw .answerMismatch(
          section: index, .mid(offered: ours.mid ?? "(none)", answered: section.mid ?? "(none)"))
      }
      guard !ours.isStopped else { throw .answerMismatch(section: index, .revived) }
      guard bundle.members.contains(index) else {
        throw .answerMismatch(section: index, .unusable(.notBundled))
      }
      let terms = try terms(of: section, answer.attributes(of: section), to: ours, at: index, ids)
      ids.adopt(terms, listing: answer.attributes(of: section).extensions)
      do {
        update(index, terms, try claims.claim(section, terms))
        sections[index].allowsReducedSizeRTCP = section.rtcpReducedSize && ours.rtcpReducedSize
      } catch {
        throw .answerMismatch(section: index, .unusable(error))
      }
      results.append(sections[index].result)
    }
    extensions = ids.agreed
    let first = bundle.members.first { answer.media[$0].port != 0 }
    let transport = try first.map { (first) throws(NegotiationError) in
      try adopt(
        answer, section: first, members: bundle.members, isOffer: false, credentials: offered.credentials)
    }
    return Agreement(transport: transport, media: media, sections: results)
  }

  /// Reads an accepted section and holds it to what we offered.
  private func terms(
    of section: MediaDescription, _ attributes: SharedAttributes, to ours: MediaDescription, at index: Int,
    _ ids: ExtensionIDs
  ) throws(NegotiationError) -> SectionTerms {
    let offered = ours.shared.direction ?? .sendrecv
    let answered = attributes.direction ?? .sendrecv
    guard !answered.sends || offered.receives, !answered.receives || offered.sends else {
      throw .answerMismatch(section: index, .direction(offered: offered, answered: answered))
    }
    var terms: SectionTerms
    do {
      terms = try SectionTerms(
        of: section, attributes, direction: answered.reversed, codecs: SectionCodecs(of: section, policy),
        policy: policy, ids: ids, mayBeSimulcast: false)
    } catch {
      throw .answerMismatch(section: index, .unusable(error))
    }
    if let number = terms.restrict(to: ours.forwardableCodecs(terms.kind, policy)) {
      throw .answerMismatch(section: index, .payloadType(number))
    }
    for item in terms.extensions
    where !ours.shared.extensions.contains(where: { $0.id == item.id && $0.uri == item.kind.uri }) {
      throw .answerMismatch(section: index, .headerExtension(id: item.id))
    }
    let isNew =
      (terms.receives && sections[index].receive == nil) || (terms.sends && sections[index].send == nil)
    guard !isNew || max(nextReceiveIndex, nextSendIndex) < Self.maximumIndices else {
      throw .answerMismatch(section: index, .unusable(.limit))
    }
    return terms
  }

  private mutating func update(_ index: Int, _ terms: SectionTerms, _ sources: SectionSources) {
    var entry = sections[index]
    let receive = entry.receive
    entry.receive = nil
    if terms.receives {
      entry.receive = ReceiveSection(
        index: receive?.index ?? nextReceiveIndex, mid: entry.mid, kind: terms.kind,
        codecs: terms.receiveCodecs,
        extensions: terms.receiveExtensions, encodings: sources.encodings, cname: sources.cname)
      if receive == nil { nextReceiveIndex += 1 }
    }
    let send = entry.send
    let announcement = entry.announcement
    entry.send = nil
    if terms.sends, let announcement {
      let retransmits = terms.sendCodecs.contains { $0.rtxPayloadType != nil }
      entry.rtxSSRC = entry.rtxSSRC ?? announcement.rtxSSRC
      spentSSRCs.insert(announcement.ssrc)
      entry.send = SendSection(
        index: send?.index ?? nextSendIndex, mid: entry.mid, kind: terms.kind, codecs: terms.sendCodecs,
        extensions: terms.sendExtensions, ssrc: announcement.ssrc,
        rtxSSRC: retransmits ? announcement.rtxSSRC : nil, cname: announcement.cname,
        streamID: announcement.streamID, allowsMixedExtensions: terms.allowsMixedExtensions)
      if send == nil { nextSendIndex += 1 }
    } else {
      entry.pair = nil
      entry.rtxSSRC = nil
    }
    entry.codecs = terms.announcedCodecs
    sections[index] = entry
  }
}
