public import Model

/// Our own end of a transport, as our descriptions name it.
public struct LocalTransport: Equatable, Sendable {
  /// Fresh ones each time: they are taken for a new transport and at an ICE restart; at any other time those
  /// that were taken before stay in force.
  public var credentials: ICECredentials
  public var fingerprint: Fingerprint
  /// Where we can be reached by UDP, the best first.
  public var candidates: [SocketAddress]
  /// Announced by `a=ice-lite` (RFC 8445 §2.5).
  public var isLite: Bool

  public init(
    credentials: ICECredentials, fingerprint: Fingerprint, candidates: [SocketAddress], isLite: Bool = true
  ) {
    self.credentials = credentials
    self.fingerprint = fingerprint
    self.candidates = candidates
    self.isLite = isLite
  }
}

/// What one end does beyond what every end does.
public struct NegotiationPolicy: Equatable, Sendable {
  /// We number what we send over the whole transport and evaluate the far end's arrival times. Where we don't,
  /// transport-wide feedback is agreed on only for what we receive.
  public var usesTransportFeedback: Bool
  /// What video is carried in, the preferred first; others are declined. Of audio everything that we know is
  /// carried, in the order of the offer.
  public var videoCodecs: [Codec]
  /// Sections that may send to us at once, on one transport; more are declined.
  public var maximumTracks = 128
  /// Sections of a far end's offer, stopped ones among them; one with more is refused.
  public var maximumSections = 128

  /// Offers of ours have sound asked for again, too, which browsers don't: for whom nothing is to be missing, however late it comes.
  public var repairsSound = false

  /// The header extensions that offers of ours list; answers take those that they know.
  public var offeredExtensions: [HeaderExtension]

  public init(
    usesTransportFeedback: Bool, videoCodecs: [Codec] = [.vp8, .vp9, .h264, .h265, .av1],
    offeredExtensions: [HeaderExtension] = [.audioLevel, .transportSequence, .mid]
  ) {
    self.usesTransportFeedback = usesTransportFeedback
    self.videoCodecs = videoCodecs
    self.offeredExtensions = offeredExtensions
  }

  /// Reports arrival times, and reads none.
  public static let server = NegotiationPolicy(usesTransportFeedback: false)
  /// As browsers do.
  public static let client = NegotiationPolicy(usesTransportFeedback: true)
}
