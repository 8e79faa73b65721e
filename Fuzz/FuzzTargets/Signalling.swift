import AccessTokens
import Gateway
import Rooms

/// A message is refused with its first wrong field, or all that it holds is within its bounds.
func fuzzClientMessage(_ input: UnsafeRawBufferPointer) {
  let text = String(decoding: input, as: UTF8.self)
  guard let message = try? ClientMessage(json: text) else { return }
  if let id = message.id {
    check((1...66).contains(id.json.utf8.count), "a request's name is short")
    check(text.contains(id.json), "and as it came")
  }
  switch message.content {
  case .offer(let offer):
    check((1...262_144).contains(offer.sdp.utf8.count), "a description has a bound")
    check(offer.tracks.count <= 64, "so has the number of tracks")
    check(Set(offer.tracks.map(\.mid)).count == offer.tracks.count, "no section is described twice")
    check(offer.tracks.allSatisfy { $0.name.map(AccessToken.isText) ?? true }, "a track's name is one")
  case .subscribe(let track, let mid):
    check((1...64).contains(track.utf8.count) && mid?.utf8.count ?? 0 <= 32, "ids are short")
  case .unsubscribe(let track), .mute(let track, _):
    check((1...64).contains(track.utf8.count), "a track's id is short")
  case .update(let change):
    check(change.name.map(AccessToken.isText) ?? true, "a person's name is one")
    check(change.metadata?.utf8.count ?? 0 <= 65_536, "metadata has a bound")
    check(change.attributes?.count ?? 0 <= 256, "so has the number of attributes")
  case .data(let data):
    check(data.payload.utf8.count <= 21_848 && data.payload.utf8.count % 4 == 0, "a payload is base64")
    check(data.destinations?.count ?? 0 <= 256, "destinations have a bound")
  case .candidate(let candidate, let mid):
    check(candidate.utf8.count <= 1_024 && mid.utf8.count <= 32, "a candidate is short")
  case .resume(let token, let after):
    check(token.utf8.count <= 128 && after >= 0, "a resume token is short, an event's number none below zero")
  case .auth, .leave, .ping, .unknown: break
  }
}
