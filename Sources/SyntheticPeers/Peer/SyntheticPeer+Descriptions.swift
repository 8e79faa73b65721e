public import Model
internal import Negotiation
internal import Wire

extension SyntheticPeer {
  /// Our next offer, as text.
  /// - Parameters:
  ///   - restartsICE: with fresh credentials.
  ///   - receivers: pairs of receive sections from now on; nil for as many as before.
  public func makeOffer(restartsICE: Bool = false, receivers: Int? = nil) throws -> String {
    if let receivers {
      descriptions.audioReceivers = receivers
      descriptions.videoReceivers = receivers
    }
    let plan = OfferPlan(
      tracks: descriptions.publications.map(\.announcement), audioReceivers: descriptions.audioReceivers,
      videoReceivers: descriptions.videoReceivers)
    let local = transport.describe(restartsICE: restartsICE, random: &random)
    var offer = try descriptions.negotiator.offer(
      plan, local: local, restartICE: restartsICE, random: &random)
    descriptions.awaitsAnswer = true
    descriptions.nameSections(&offer, &random)
    descriptions.offered = offer.media.map { section in
      let track = descriptions.publications.first { section.ssrcs.map(\.ssrc).contains($0.announcement.ssrc) }
      return OfferedSection(
        mid: section.mid ?? "", isStopped: section.isStopped, publication: section.isStopped ? nil : track)
    }
    for index in offer.media.indices {
      if configuration.waitsForHandshake, offer.media[index].shared.setup != nil {
        offer.media[index].shared.setup = .passive
      }
      if !configuration.announcesSSRCs {
        offer.media[index].ssrcs = []
        offer.media[index].ssrcGroups = []
      }
    }
    if configuration.layers?.isSimulcast == true { offerEncodings(&offer) }
    configuration.dialect.speak(&offer)
    return offer.text
  }

  /// Takes the server's answer.
  public func accept(_ text: String, now: Instant) throws {
    var answer = try SessionDescription(parsing: text)
    configuration.dialect.understand(&answer)
    descriptions.recallNames(&answer)
    if configuration.layers?.isSimulcast == true { takeEncodings(&answer) }
    take(try descriptions.negotiator.accept(answer), now: now)
  }

  /// Answers an offer of the server's, in the dialect that everybody speaks.
  public func answer(_ text: String, now: Instant) throws -> String {
    let offer = try SessionDescription(parsing: text)
    let local = transport.describe(restartsICE: false, random: &random)
    let answer = try descriptions.negotiator.answer(to: offer, local: local, random: &random)
    take(answer.agreement, now: now)
    return answer.sdp
  }

  private func take(_ agreement: Agreement, now: Instant) {
    let media = descriptions.named(configuration.dialect.translate(agreement.media))
    descriptions.media = media
    descriptions.awaitsAnswer = false
    for stream in streams where !media.receive.contains(where: { $0.ssrc == stream.ssrc }) {
      stream.isOver = true
    }
    for index in sources.indices
    where !hostility.ignoresStops && !media.send.contains(where: { $0.index == sources[index].section.index })
    {
      sources[index].stop()
    }
    for source in layered where !media.send.contains(where: { $0.index == source.section.index }) {
      source.stop()
    }
    for source in encoded.sources where !media.send.contains(where: { $0.index == source.section.index }) {
      source.stop()
    }
    guard let agreed = agreement.transport else {
      if transport.remote != nil { endTransport(now: now) }
      return
    }
    transport.accept(agreed)
    openStreams(now: now)
    if session != nil { openTracks(now: now) }
  }

  /// Everything that we may receive, ready before the first packet.
  private func openStreams(now: Instant) {
    for section in descriptions.media.receive where streamIndex[section.ssrc ?? 0] == nil {
      guard let ssrc = section.ssrc, !section.codecs.isEmpty else { continue }
      let log = journal.departureLog(subscriber: number, ssrc: ssrc)
      streamIndex[ssrc] = streams.count
      if let rtx = section.rtxSSRC { streamIndex[rtx] = streams.count }
      streams.append(ReceivedStream(section: section, log: log, knownSince: now))
    }
  }

  /// Starts what we publish, once.
  func openTracks(now: Instant) {
    for section in descriptions.media.send
    where !sources.contains(where: { $0.section.index == section.index })
      && !layered.contains(where: { $0.section.index == section.index })
      && !encoded.sources.contains(where: { $0.section.index == section.index })
    {
      let track = PublishedTrack(publisher: number, index: Int(section.index), kind: section.kind)
      journal.begin(track, now: now)
      if configuration.isEncoded {
        let source = EncodedSource(
          section: section, clock: clock, log: track, logNumber: journal.tracks.count - 1, now: now,
          random: .seeded(state: random.next()))
        if let source { encoded.sources.append(source) }
        continue
      }
      let isVideo = section.kind == .video
      if isVideo, layered.isEmpty, let video = configuration.layers {
        openLayers(video, section, track, now: now)
        continue
      }
      // Further tracks send less, and always something.
      let isFirst = !sources.contains { $0.kind == section.kind }
      var habits = configuration
      if !isFirst { habits.pausesInSilence = false }
      var shape = isVideo ? configuration.video : FrameShape.audio
      if !isFirst { shape.interval *= 3 }
      let wanted = isVideo ? configuration.videoCodec : configuration.audioCodec
      sources.append(
        TrackSource(
          section: section, codec: section.codecs.first { $0.codec == wanted } ?? section.codecs[0],
          habits: habits, log: track, logNumber: journal.tracks.count - 1,
          sequence: isVideo ? configuration.videoSequence : configuration.audioSequence,
          shape: shape, now: now,
          random: .seeded(state: random.next())))
    }
  }
}
