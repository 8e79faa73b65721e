import ICE
import Model
import Wire

/// Whatever is read lies inside of the datagram, and what is peeked at is what is read.
@Sendable public func fuzzSTUN(_ bytes: UnsafeRawBufferPointer) {
  let peeked = STUNPeek.localUfrag(in: bytes)
  if let peeked {
    check(!peeked.isEmpty && peeked.upperBound <= bytes.count, "a fragment lies in the datagram")
    if let home = ICECredentials.homeWorker(ofUfrag: UnsafeRawBufferPointer(rebasing: bytes[peeked])) {
      check((0...255).contains(home), "a home is a worker")
    }
  }
  guard let message = try? STUNMessage(bytes) else { return }
  let within = { (offset: Int?) in offset.map { $0 >= STUNHeader.size && $0 <= bytes.count - 8 } ?? true }
  check(within(message.integrityOffset) && within(message.fingerprintOffset), "places lie in the datagram")
  check(message.unknownCount >= 0, "unknown attributes are counted")
  if let username = message.username {
    check(username.upperBound <= bytes.count, "a name lies in the datagram")
    if peeked != nil, message.messageClass == .request, message.method == STUNMessage.binding {
      check(STUNPeek.localUfrag(in: bytes, username: username) == peeked, "peeking finds the same name")
    }
  }
  if message.hasValidFingerprint(in: bytes) {
    check(message.fingerprintOffset == bytes.count - 8, "the fingerprint is the last attribute")
  }
}
