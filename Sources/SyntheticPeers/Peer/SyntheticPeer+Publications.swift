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
    descriptions.publications.append(
      Publication(
        announcement: TrackAnnouncement(
          kind: kind, ssrc: ssrc, rtxSSRC: kind == .video ? rtxSSRC : nil, cname: descriptions.cname,
          streamID: "s\(number)", trackID: "t\(number)-\(ssrc)"), source: source,
        isMuted: isMuted && source != nil))
  }

  /// Stops one from the next offer on.
  package func unpublish(_ index: Int) { descriptions.publications.remove(at: index) }

  /// The server has refused the last offer.
  package func withdrawOffer() {
    descriptions.negotiator.withdrawOffer()
    descriptions.awaitsAnswer = false
  }
}
