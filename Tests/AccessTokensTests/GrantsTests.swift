import AccessTokens
import Model
import Testing

@Suite("What two tokens allow together", .timeLimit(.minutes(1)))
struct GrantsTests {
  private static let sources: [Set<TrackSource>?] = [
    nil, [], [.camera], [.camera, .microphone], [.screenShare],
  ]

  /// Every mixture of what counts in a room.
  private static let all: [Grants] = {
    var all: [Grants] = []
    for bits in 0..<32 {
      for sources in Self.sources {
        var grants = Grants.join("r")
        grants.canPublish = bits & 1 != 0
        grants.canSubscribe = bits & 2 != 0
        grants.canPublishData = bits & 4 != 0
        grants.canUpdateOwnMetadata = bits & 8 != 0
        grants.hidden = bits & 16 != 0
        grants.canPublishSources = sources
        all.append(grants)
      }
    }
    return all
  }()

  private static let tracks: [(TrackSource, MediaKind)] = [
    (.camera, .video), (.microphone, .audio), (.screenShare, .video), (.screenShareAudio, .audio),
    (.unknown, .video), (.unknown, .audio),
  ]

  /// Without regard to who sees it.
  private func publishes(_ grants: Grants, _ track: (TrackSource, MediaKind)) -> Bool {
    var visible = grants
    visible.hidden = false
    return visible.mayPublish(track.0, as: track.1)
  }

  @Test func `narrowed, they allow what each of them does and no more`() {
    for one in Self.all {
      for other in Self.all {
        let both = one.narrowed(to: other)
        for (source, kind) in Self.tracks {
          #expect(
            both.mayPublish(source, as: kind)
              == (one.mayPublish(source, as: kind) && other.mayPublish(source, as: kind)))
        }
        #expect(both.canSubscribe == (one.canSubscribe && other.canSubscribe))
        #expect(both.canPublishData == (one.canPublishData && other.canPublishData))
        #expect(both.canUpdateOwnMetadata == (one.canUpdateOwnMetadata && other.canUpdateOwnMetadata))
        #expect(both.hidden == (one.hidden || other.hidden))
      }
    }
  }

  @Test func `widened, they allow what either of them does and no more`() {
    for one in Self.all {
      for other in Self.all {
        let both = one.widened(by: other)
        for track in Self.tracks {
          #expect(publishes(both, track) == (publishes(one, track) || publishes(other, track)))
        }
        #expect(both.canSubscribe == (one.canSubscribe || other.canSubscribe))
        #expect(both.canPublishData == (one.canPublishData || other.canPublishData))
        #expect(both.canUpdateOwnMetadata == (one.canUpdateOwnMetadata || other.canUpdateOwnMetadata))
        #expect(both.hidden == (one.hidden && other.hidden))
      }
    }
  }

  @Test func `what a token says of administration never comes from another`() {
    var administrator = Grants.join("r")
    administrator.roomAdmin = true
    administrator.roomCreate = true
    administrator.roomList = true
    let plain = Grants.join("r")
    for mixed in [plain.narrowed(to: administrator), plain.widened(by: administrator)] {
      #expect(!mixed.roomAdmin && !mixed.roomCreate && !mixed.roomList && mixed.room == "r")
    }
  }
}
