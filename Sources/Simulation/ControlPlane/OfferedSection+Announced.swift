internal import AccessTokens
internal import Signalling
internal import SyntheticPeers

extension OfferedSection {
  /// What the offer says of it; nil: nothing.
  var announced: ClientMessage.OfferedSection? {
    guard let publication, let source = publication.source.flatMap({ AccessTokens.TrackSource(rawValue: $0) })
    else {
      return nil
    }
    return ClientMessage.OfferedSection(mid: mid, source: source, muted: publication.isMuted)
  }
}
