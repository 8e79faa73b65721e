package import Model
package import Negotiation
package import Signalling

/// What a session is there for. All of it is called on the session's thread.
package protocol ClientTask: AnyObject {
  /// What the first offer is to have; asked for once the room is known.
  var plan: OfferPlan { get }
  /// Which codecs of video an offer has, the preferred first.
  var codecs: [Codec] { get }
  /// A message has come, an answer to an offer once it holds.
  func take(_ message: ServerMessage.Content, _ session: ClientSession, now: Instant) throws(ClientError)
  /// Whether it receives; it sends otherwise.
  var isReceiver: Bool { get }
  /// When it has something to do.
  var deadline: Instant { get }
  /// Does what is due.
  /// - Returns: whether it is done, and the session is to end.
  func poll(_ session: ClientSession, now: Instant) throws(ClientError) -> Bool
}
