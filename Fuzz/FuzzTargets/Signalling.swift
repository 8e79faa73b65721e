import AccessTokens
import Signalling

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
  case .subscribe(let wanted):
    check(
      (1...64).contains(wanted.track.utf8.count) && wanted.mid?.utf8.count ?? 0 <= 32, "ids are short")
  case .unsubscribe(let wanted): check((1...64).contains(wanted.track.utf8.count), "a track's id is short")
  case .view(let view):
    check(view.tracks.count <= 64, "the number of tracks has a bound")
    check(Set(view.tracks.map(\.track)).count == view.tracks.count, "none is named twice")
    check(view.tracks.allSatisfy { (1...64).contains($0.track.utf8.count) }, "a track's id is short")
  case .layers(let said):
    check((1...64).contains(said.track.utf8.count) && said.layers.count <= 3, "so has that of encodings")
    check(said.layers.allSatisfy { $0.width > 0 && $0.height > 0 }, "a picture has a size")
  case .mute(let wanted): check((1...64).contains(wanted.track.utf8.count), "a track's id is short")
  case .update(let change):
    check(change.name.map(AccessToken.isText) ?? true, "a person's name is one")
    check(change.metadata?.utf8.count ?? 0 <= 65_536, "metadata has a bound")
    check(change.attributes?.count ?? 0 <= 256, "so has the number of attributes")
  case .data(let data):
    check(data.payload.count <= 16_386, "a payload has a bound")
    check(data.destinations?.count ?? 0 <= 256, "destinations have a bound")
  case .candidate(let found):
    check(found.candidate.utf8.count <= 1_024 && found.mid?.utf8.count ?? 0 <= 32, "a candidate is short")
  case .sessionEvent(let wanted):
    let event = wanted.event
    check((1...36).contains(wanted.sid.utf8.count) && (1...36).contains(event.id.utf8.count), "ids are short")
    check(AccessToken.isText(event.type) && event.data.bytes.count <= 16_384, "an event has a bound")
    check(OpaqueJSON(event.data.bytes) == event.data, "what is taken once is taken again")
  case .hand(let wanted):
    check(wanted.participant.map { (1...64).contains($0.utf8.count) } ?? true, "an id is short")
  case .admit(let wanted): check((1...64).contains(wanted.waiting.utf8.count), "an id is short")
  case .resume(let wanted):
    check(
      wanted.resumeToken.utf8.count <= 128 && wanted.after >= 0,
      "a resume token is short, an event's number none below zero")
  case .auth, .explain, .leave, .ping, .unknown: break
  }
  // What is read can be written, and is the same when it is read again.
  if case .unknown = message.content { return }
  check((try? ClientMessage(json: message.json)) == message, "a message is written as it was read")
}
