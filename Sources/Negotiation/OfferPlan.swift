public import Model
import Wire

/// A track that we send, as a description announces it.
///
/// An SSRC whose section was stopped or refused is not for another track, nor for the same one published again: its
/// packet indices would come twice under one key.
public struct TrackAnnouncement: Equatable, Sendable {
  public var kind: MediaKind
  public var ssrc: UInt32
  /// Needed to retransmit; without it RTX isn't offered.
  public var rtxSSRC: UInt32?
  public var cname: String
  /// The two halves of `a=msid`; tracks of one stream are played in step.
  public var streamID: String
  public var trackID: String

  public init(
    kind: MediaKind, ssrc: UInt32, rtxSSRC: UInt32? = nil, cname: String, streamID: String, trackID: String
  ) {
    self.kind = kind
    self.ssrc = ssrc
    self.rtxSSRC = rtxSSRC
    self.cname = cname
    self.streamID = streamID
    self.trackID = trackID
  }
}

/// All that our offer is to contain, beside sections that the far end's own offers brought.
///
/// A track that an earlier plan had and this one hasn't is stopped, and so are surplus receivers, from the end;
/// new ones take the places of stopped sections, then further ones.
public struct OfferPlan: Equatable, Sendable {
  /// Distinguished by their SSRCs.
  public var tracks: [TrackAnnouncement]
  /// Receive-only sections.
  public var audioReceivers: Int
  public var videoReceivers: Int

  public init(tracks: [TrackAnnouncement] = [], audioReceivers: Int = 0, videoReceivers: Int = 0) {
    self.tracks = tracks
    self.audioReceivers = audioReceivers
    self.videoReceivers = videoReceivers
  }
}

/// What a section that our plan brought is for.
enum SectionPurpose: Equatable, Sendable {
  case track(TrackAnnouncement)
  case receiver
}

/// An offer of ours between its departure and its answer.
struct PendingOffer: Equatable, Sendable {
  /// The table as it is to be, with the sections that the offer adds.
  var sections: [NegotiatedSection]
  var description: SessionDescription
  var credentials: ICECredentials
}
