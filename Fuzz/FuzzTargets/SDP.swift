import Model
import Negotiation
import Wire

/// What is read and written is read alike.
@Sendable public func fuzzSDP(_ bytes: UnsafeRawBufferPointer) {
  guard let description = parsed(bytes) else { return }
  let text = description.text
  do throws(SDPError) {
    let again = try SessionDescription(parsing: text)
    check(again == description, "what was written reads as it was")
    check(again.text == text, "and is written alike")
  } catch {
    check(text.utf8.count > SessionDescription.maximumBytes, "what was written can be read")
  }
}

/// Whatever description is answered, its answer can be read, has its sections, and is given again.
@Sendable public func fuzzNegotiator(_ bytes: UnsafeRawBufferPointer) {
  guard let offer = parsed(bytes) else { return }
  var random = RandomSource.seeded(state: 1)
  var negotiator = Negotiator()
  let local = LocalTransport(
    credentials: ICECredentials(ufrag: "a01newnewnewnew", password: "newnewnewnewnewnewnewnew"),
    fingerprint: Fingerprint(algorithm: .sha256, digest: Array(repeating: 7, count: 32)),
    candidates: [SocketAddress(ipv4: 192, 0, 2, 1, port: 3478)])
  guard let first = try? negotiator.answer(to: offer, local: local, random: &random) else { return }
  check(first.description.media.count == offer.media.count, "an answer has the offer's sections")
  check((try? SessionDescription(parsing: first.sdp)) != nil, "an answer can be read")
  for section in first.agreement.media.receive {
    check(section.ssrc == nil || section.ssrc != section.rtxSSRC, "streams of a section differ")
  }
  var writer = StateWriter()
  first.agreement.media.encode(into: &writer)
  var reader = StateReader(writer.bytes)
  check((try? AgreedMedia(from: &reader)) == first.agreement.media, "what was agreed on is state")

  guard let second = try? negotiator.answer(to: offer, local: local, random: &random) else {
    check(false, "an offer that was answered is answered again")
    return
  }
  check(
    second.agreement.media.receive.map(\.index) == first.agreement.media.receive.map(\.index)
      && second.agreement.media.send == first.agreement.media.send, "tracks and slots keep their numbers")
}

private func parsed(_ bytes: UnsafeRawBufferPointer) -> SessionDescription? {
  guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
  return try? SessionDescription(parsing: text)
}

/// A fragment that is read and written is read as the same, within its bounds.
func fuzzICEFragment(_ bytes: UnsafeRawBufferPointer) {
  guard let fragment = try? ICEFragment(parsing: Array(bytes)) else { return }
  check(
    fragment.sections.reduce(0) { $0 + $1.candidates.count } <= ICEFragment.maximumCandidates,
    "candidates have a bound")
  check(fragment.credentials == nil || fragment.namesCredentials, "credentials are named")
  let text = fragment.text
  guard !text.isEmpty, text.utf8.count <= ICEFragment.maximumBytes else { return }
  check((try? ICEFragment(parsing: Array(text.utf8))) == fragment, "what is written is read as it was")
}
