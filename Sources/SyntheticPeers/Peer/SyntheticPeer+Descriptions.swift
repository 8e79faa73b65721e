internal import Crypto
internal import ICE
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
      audioReceivers = receivers
      videoReceivers = receivers
    }
    let plan = OfferPlan(
      tracks: publications.map(\.announcement), audioReceivers: audioReceivers, videoReceivers: videoReceivers
    )
    var fresh = credentials
    if restartsICE {
      fresh = ICECredentials(ufrag: random.alphanumeric(8), password: random.alphanumeric(24))
    }
    let local = LocalTransport(
      credentials: fresh, fingerprint: dtls.certificate.fingerprint(.sha256), candidates: [address],
      isLite: false)
    var offer = try negotiator.offer(plan, local: local, restartICE: restartsICE, random: &random)
    pendingCredentials = fresh
    awaitsAnswer = true
    nameSections(&offer)
    offered = offer.media.map { section in
      let track = publications.first { section.ssrcs.map(\.ssrc).contains($0.announcement.ssrc) }
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
    configuration.dialect.speak(&offer)
    return offer.text
  }

  /// Takes the server's answer.
  public func accept(_ text: String, now: Instant) throws {
    var answer = try SessionDescription(parsing: text)
    configuration.dialect.understand(&answer)
    recallNames(&answer)
    let agreement = try negotiator.accept(answer)
    media = named(configuration.dialect.translate(agreement.media))
    awaitsAnswer = false
    for stream in streams where !media.receive.contains(where: { $0.ssrc == stream.ssrc }) {
      stream.isOver = true
    }
    for index in sources.indices
    where !ignoresStops && !media.send.contains(where: { $0.index == sources[index].section.index }) {
      sources[index].stop()
    }
    guard let transport = agreement.transport else {
      if remoteTransport != nil { endTransport(now: now) }
      return
    }
    credentials = pendingCredentials
    if remoteTransport == nil {
      agent.setRemote(transport.remote.credentials)
    } else if transport.restartsICE {
      agent.restart(local: credentials, remote: transport.remote.credentials)
    }
    remoteTransport = transport.remote
    for (rank, candidate) in transport.remoteCandidates.enumerated() {
      agent.addRemote(
        candidate, priority: ICEPriority.candidate(.host, localPreference: .max - UInt16(rank)))
    }
    agentDeadline = agent.deadline
    openStreams(now: now)
    if session != nil { openTracks(now: now) }
  }

  /// Everything that we may receive, ready before the first packet.
  private func openStreams(now: Instant) {
    for section in media.receive where streamIndex[section.ssrc ?? 0] == nil {
      guard let ssrc = section.ssrc, !section.codecs.isEmpty else { continue }
      let log = journal.departureLog(subscriber: number, ssrc: ssrc)
      streamIndex[ssrc] = streams.count
      if let rtx = section.rtxSSRC { streamIndex[rtx] = streams.count }
      streams.append(ReceivedStream(section: section, log: log, knownSince: now))
    }
  }

  /// Starts what we publish, once.
  func openTracks(now: Instant) {
    for section in media.send where !sources.contains(where: { $0.section.index == section.index }) {
      let track = PublishedTrack(publisher: number, index: Int(section.index), kind: section.kind)
      journal.begin(track, now: now)
      let isVideo = section.kind == .video
      // Further tracks send less, and always something.
      let isFirst = !sources.contains { $0.kind == section.kind }
      var habits = configuration
      if !isFirst { habits.pausesInSilence = false }
      let wanted = isVideo ? configuration.videoCodec : configuration.audioCodec
      sources.append(
        TrackSource(
          section: section, codec: section.codecs.first { $0.codec == wanted } ?? section.codecs[0],
          habits: habits, log: track, logNumber: journal.tracks.count - 1, clock: clock,
          sequence: isVideo ? configuration.videoSequence : configuration.audioSequence,
          frameInterval: (isVideo ? configuration.videoInterval : 20_000_000) * (isFirst ? 1 : 3),
          packetSize: isVideo ? configuration.videoPacketSize : 40...120,
          framePackets: configuration.videoPackets, keyFramePackets: configuration.keyFramePackets, now: now,
          random: .seeded(state: random.next())))
    }
  }
}
