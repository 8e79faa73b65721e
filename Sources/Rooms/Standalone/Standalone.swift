internal import AccessTokens
internal import Model

/// What a transport has whose client holds no session: it names the transport by an id, and shows a token with each request.
///
/// Such a transport belongs to the participant of its identity like any other, and ends by itself: with a request, with its
/// media, with its participant, or with the permission that it lives by.
struct Standalone: Equatable, Sendable {
  /// Of one participant at once: one of its places for transports stays free for its page.
  static let limit = Transport.limit - 1
  /// Characters of an id, 5.95 bits each; it is not to be guessed.
  static let idLength = 32
  static let tagLength = 16

  let id: String
  /// Names the ICE session that is in force; another one from each restart on.
  var tag: String
  /// What its own token allows. The participant's permissions are narrowed by it.
  let grants: Grants
  let selection: TrackSelection
  /// Mids of the offer's bundle, in its order; empty where it has none.
  let group: [String]
  /// The answer's `a=ice-options`.
  let options: [String]

  static func newTag(_ random: inout RandomSource) -> String { random.alphanumeric(tagLength) }
}
