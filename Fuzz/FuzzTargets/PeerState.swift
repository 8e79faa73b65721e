import Model
import Peer

/// State from elsewhere: refused, or a peer whose own state is read and written alike.
@Sendable public func fuzzPeerState(_ bytes: UnsafeRawBufferPointer) {
  guard let peer = try? Peer.decode(Array(bytes)) else { return }
  guard let state = peer.encode() else {
    check(false, "a peer that was read has state")
    return
  }
  guard let again = try? Peer.decode(state) else {
    check(false, "its state is read")
    return
  }
  check(again.encode() == state, "and written alike")
  _ = peer.deadline
  for index in 0..<peer.receiverCount { _ = peer.kind(ofReceiver: index) }
  for index in 0..<peer.slotCount where peer.kind(ofSlot: index) != nil { _ = peer.source(ofSlot: index) }
}
