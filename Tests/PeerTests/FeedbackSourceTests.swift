import Model
import Testing

@testable import Media
@testable import Peer

/// Feedback for all that a peer sends names one of its streams. libwebrtc takes none under a source that it doesn't send any more.
@Suite("The stream that feedback names", .timeLimit(.minutes(2)))
struct FeedbackSourceTests {
  typealias Far = ConnectedPeer

  private func agreed(_ ssrcs: UInt32?...) -> AgreedMedia {
    AgreedMedia(
      receive: ssrcs.enumerated().compactMap { index, ssrc in
        ssrc.map { Far.section(UInt16(index), ssrc: $0) }
      })
  }

  @Test func `it is one that goes on, whichever track ends`() throws {
    let far = try Far(agreed(1, 2, 3))
    #expect(far.peer.session.feedbackSSRC == 1)
    far.apply(agreed(nil, 2, 3))
    #expect(far.peer.session.feedbackSSRC == 2)
    far.apply(agreed(nil, 2, nil))
    #expect(far.peer.session.feedbackSSRC == 2)
    far.apply(agreed(nil, nil, nil, 4))
    #expect(far.peer.session.feedbackSSRC == 4)
    far.apply(agreed(nil, nil, nil, 5))
    #expect(far.peer.session.feedbackSSRC == 5, "the track goes on under another source")
    try far.rebuild()
    #expect(far.peer.session.feedbackSSRC == 5)
    far.apply(agreed(nil, nil, nil, nil))
    #expect(far.peer.session.feedbackSSRC == 0)
  }
}
