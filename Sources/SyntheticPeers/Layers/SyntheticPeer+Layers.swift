internal import Model
internal import Negotiation
internal import Wire

/// How a far end offers a picture in several encodings, and begins to send it.
extension SyntheticPeer {
  /// Ids of the negotiator's that it leaves free.
  private static let ids: [(kind: HeaderExtension, id: UInt16)] = [(.rid, 13), (.repairedRid, 14)]

  /// The section of the first picture becomes one of a simulcast. Its streams are distinguished by name, and no SSRC is announced
  /// (RFC 8853 §5.1); or, as clients did it before there were names, they are tied together by their SSRCs.
  func offerEncodings(_ offer: inout SessionDescription) {
    guard let video = configuration.layers,
      let index = offer.media.firstIndex(where: {
        $0.media == "video" && $0.shared.direction?.sends == true && !$0.isStopped
      })
    else { return }
    if video.isBySSRC { return offer.media[index].tieStreams(video.encodings.count) }
    for (kind, id) in Self.ids {
      offer.media[index].shared.extensions.append(ExtensionAttribute(id: id, uri: kind.uri))
    }
    offer.media[index].rids = video.encodings.map { RIDAttribute(rid: $0.rid, direction: .send) }
    offer.media[index].simulcast = SimulcastAttribute(send: video.encodings.map { [.init(rid: $0.rid)] })
    offer.media[index].ssrcs = []
    offer.media[index].ssrcGroups = []
  }

  /// The negotiator knows nothing of its own encodings.
  func takeEncodings(_ answer: inout SessionDescription) {
    for index in answer.media.indices where answer.media[index].simulcast != nil {
      answer.media[index].rids = []
      answer.media[index].simulcast = nil
      answer.media[index].shared.extensions.removeAll { item in Self.ids.contains { $0.id == item.id } }
    }
  }

  func openLayers(_ video: LayeredVideo, _ section: SendSection, _ log: PublishedTrack, now: Instant) {
    let track = LayeredTrack(video, now: now)
    journal.begin(track, of: log)
    let isNamed = video.isSimulcast && !video.isBySSRC
    let ids = isNamed ? Self.ids.map { configuration.dialect.id(UInt8($0.id)) } : [0, 0]
    layered.append(
      LayeredSource(
        section: section, video: video, clock: clock, ridIDs: (ids[0], ids[1]), log: log, track: track,
        logNumber: journal.tracks.count - 1, now: now, random: .seeded(state: random.next())))
  }
}

extension MediaDescription {
  /// Announces so many streams in place of one, each with its retransmissions.
  fileprivate mutating func tieStreams(_ count: Int) {
    let announced = ssrcs.map(\.ssrc)
    guard let cname = ssrcs.first?.attributeValue else { return }
    let streams = (0..<count).map { index in announced.map { LayeredStream.ssrc(index, after: $0) } }
    ssrcs = streams.flatMap(\.self).map { SSRCAttribute(ssrc: $0, name: "cname", attributeValue: cname) }
    ssrcGroups = [SSRCGroupAttribute(semantics: "SIM", ssrcs: streams.map { $0[0] })]
    ssrcGroups += streams.filter { $0.count == 2 }.map { SSRCGroupAttribute(semantics: "FID", ssrcs: $0) }
  }
}

extension Dialect {
  /// What an id of the negotiator is on the wire.
  func id(_ id: UInt8) -> UInt8 { extensionIDs[id] ?? id }
}
