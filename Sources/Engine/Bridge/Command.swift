public import Model
public import Peer

/// What the control plane tells the media plane. Each goes to its peer's home worker, which passes it on to the
/// worker that has adopted the peer; so commands to one peer arrive in the order in which they were given.
public enum Command: Sendable {
  case add(PeerSetup)
  /// What was agreed on in a later offer; tracks and slots keep their numbers.
  case apply(PeerKey, AgreedMedia)
  case restartICE(PeerKey, local: ICECredentials, remote: ICECredentials)
  /// Feeds a slot from a track, or from none.
  case assign(PeerKey, slot: UInt16, TrackKey?)
  /// How a slot's subscriber shows what it gets there.
  case prefer(PeerKey, slot: UInt16, PicturePreference)
  /// A track is muted: it is forwarded to no consumer until it is unmuted.
  case mute(TrackKey, Bool)
  /// What there is to know of a track; replaces what was said of it before.
  case describe(TrackKey, TrackTraits)
  /// How large the pictures of a track's encodings are from now on, in their order, as its publisher says; those without a size stay as
  /// they were said to be.
  case resize(TrackKey, [PictureSize])
  case close(PeerKey)
  /// The same, and the far end hears of it by DTLS.
  case dismiss(PeerKey)

  var peer: PeerKey {
    switch self {
    case .add(let setup): setup.key
    case .mute(let track, _), .describe(let track, _), .resize(let track, _): track.peer
    case .apply(let key, _), .restartICE(let key, _, _), .assign(let key, _, _), .prefer(let key, _, _),
      .close(let key), .dismiss(let key):
      key
    }
  }
}
