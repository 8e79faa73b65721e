internal import ICE
package import Model
package import Negotiation
internal import Wire

/// A track that a far end publishes or wants to, and what it says of it.
package struct Publication {
  package var announcement: TrackAnnouncement
  /// As `offer` names it; nil: nothing is said, which makes it a microphone or a camera.
  package var source: String?
  /// From its first packet on.
  package var isMuted = false

  package var kind: MediaKind { announcement.kind }
  package var ssrc: UInt32 { announcement.ssrc }
  /// What it counts as (docs/signalling.md).
  package var countedSource: String { source ?? (kind == .audio ? "microphone" : "camera") }
}

/// A section of an offer as it left.
package struct OfferedSection {
  package var mid: String
  package var isStopped: Bool
  /// What is sent in it; nil for one that receives.
  package var publication: Publication?
}

/// How a far end's sections come and go.
extension SyntheticPeer {
  /// Publishes one more track from the next offer on.
  package func publish(_ kind: MediaKind, as source: String?, isMuted: Bool = false) {
    let ssrc = UInt32(truncatingIfNeeded: random.next()) | 1
    let rtxSSRC = UInt32(truncatingIfNeeded: random.next()) | 1
    publications.append(
      Publication(
        announcement: TrackAnnouncement(
          kind: kind, ssrc: ssrc, rtxSSRC: kind == .video ? rtxSSRC : nil, cname: cname,
          streamID: "s\(number)", trackID: "t\(number)-\(ssrc)"), source: source,
        isMuted: isMuted && source != nil))
  }

  /// Stops one from the next offer on.
  package func unpublish(_ index: Int) { publications.remove(at: index) }

  /// The server has refused the last offer.
  package func withdrawOffer() {
    negotiator.withdrawOffer()
    awaitsAnswer = false
  }

  /// No section is left, and so no transport: the next offer begins another.
  func endTransport(now: Instant) {
    for index in sources.indices { sources[index].stop() }
    session = nil
    association = nil
    handshake = nil
    handshakePath = nil
    handshakeDeadline = .never
    nextReports = .never
    lastHeard = .never
    connectedAt = .never
    remoteTransport = nil
    transportLog = TransportLog()
    negotiator.endTransport()
    credentials = ICECredentials(ufrag: random.alphanumeric(8), password: random.alphanumeric(24))
    pendingCredentials = credentials
    agent = ControllingAgent(local: credentials, configuration: ice, now: now, random: &random)
    agent.addLocal(address)
    agentDeadline = .never
  }

  // MARK: - Names of sections

  /// Gives the sections of an offer the names under which they go out. The negotiator gives a section that takes the
  /// place of a stopped one another name; other clients give it the same.
  func nameSections(_ offer: inout SessionDescription) {
    ownMids = offer.media.map { $0.mid ?? "" }
    for index in offer.media.indices {
      guard let mid = offer.media[index].mid else { continue }
      if midNames[mid] == nil {
        let reuses = reusesMids && offered.indices.contains(index) && random.next() % 2 == 0
        midNames[mid] = reuses ? offered[index].mid : mid
      }
      offer.media[index].mid = midNames[mid]
    }
    for index in offer.groups.indices {
      offer.groups[index].mids = offer.groups[index].mids.map { midNames[$0] ?? $0 }
    }
  }

  /// Turns an answer's names into the negotiator's.
  func recallNames(_ answer: inout SessionDescription) {
    let own = Dictionary(zip(offered.map(\.mid), ownMids), uniquingKeysWith: { first, _ in first })
    for index in answer.media.indices {
      answer.media[index].mid = answer.media[index].mid.map { own[$0] ?? $0 }
    }
    for index in answer.groups.indices {
      answer.groups[index].mids = answer.groups[index].mids.map { own[$0] ?? $0 }
    }
  }

  /// What was agreed on, under the names that go out.
  package func named(_ media: AgreedMedia) -> AgreedMedia {
    var media = media
    for index in media.receive.indices {
      media.receive[index].mid = midNames[media.receive[index].mid] ?? media.receive[index].mid
    }
    for index in media.send.indices {
      media.send[index].mid = midNames[media.send[index].mid] ?? media.send[index].mid
    }
    return media
  }
}
