import Model
import Signalling
import Testing

@testable import Simulation
@testable import SyntheticPeers

@Suite("A client of the native door in simulation", .timeLimit(.minutes(2)))
struct RoomClientTests {
  let client = RoomClient(room: "room", token: SimulatedToken(identity: "ada", issued: 7))
  let now = Instant(nanoseconds: 1_000_000_000)

  private static let joined = """
    {"iceServers":[],"id":1,"lastEvent":3,"participant":{"attributes":{},"id":"PA_a","identity":"ada","tracks":[]},\
    "participants":[{"attributes":{},"id":"PA_b","identity":"bob","tracks":[{"id":"TR_1","kind":"audio","muted":false,\
    "mutedByAdmin":false,"source":"microphone"}]}],"pingInterval":20,"resumeToken":"token","room":{"id":"RM_1","name":"room"},"type":"joined"}
    """

  private func socket(_ number: Int) -> SimulatedSocket {
    SimulatedSocket(
      number: number, remote: SocketAddress(ipv4: 192, 0, 2, 1, port: 1), outbox: SocketOutbox())
  }

  /// What it complains about.
  private func hear(_ texts: String...) -> [String] {
    var complaints: [String] = []
    for text in texts { _ = client.receive(text, now: now) { complaints.append($0) } }
    return complaints
  }

  private static func event(_ id: Int, _ type: String, muted: Bool = false, byAdmin: Bool = false) -> String {
    """
    {"event":{"id":\(id),"participant":{"attributes":{},"id":"PA_b","identity":"bob","tracks":[]},"room":"room",\
    "roomId":"RM_1","time":"t","track":{"id":"TR_1","kind":"audio","muted":\(muted),"mutedByAdmin":\(byAdmin),"source":"microphone"},\
    "type":"\(type)"},"type":"event"}
    """
  }

  private static func sound(_ mute: RoomPicture.Mute) -> [String: RoomPicture.Track] {
    ["TR_1": RoomPicture.Track(kind: "audio", source: "microphone", mute: mute)]
  }

  private func join() {
    _ = client.connect(socket(1))
    #expect(hear(Self.joined) == [])
  }

  @Test func `it knows the participants and what becomes of them`() {
    #expect(client.connect(socket(1)).text == #"{"id":1,"token":"ada/7/psa/","type":"auth"}"#)
    #expect(hear(Self.joined) == [])
    #expect(client.isOpen && client.pending.isEmpty && client.lastEvent == 3)
    #expect(client.picture.people["PA_b"]?.tracks == Self.sound(.none))
    #expect(hear(Self.event(4, "track.muted", muted: true)) == [])
    #expect(client.picture.people["PA_b"]?.tracks == Self.sound(.publisher))
    #expect(
      hear(#"{"assignments":[{"mid":"2","track":"TR_1"},{"mid":"3","track":null}],"type":"slots"}"#) == [])
    #expect(client.picture.slots == ["2": "TR_1"])
    #expect(hear(Self.event(5, "track.muted", muted: true, byAdmin: true)) == [])
    #expect(client.picture.people["PA_b"]?.tracks == Self.sound(.admin))
    #expect(hear(Self.event(6, "track.unpublished", muted: true), Self.event(7, "participant.left")) == [])
    #expect(client.picture.people.keys.sorted() == ["PA_a"])
  }

  @Test func `it complains of a gap, of what comes twice, and of what makes no sense`() {
    join()
    #expect(hear(Self.event(5, "track.muted", muted: true)) == ["gets event 5 after 3"])
    #expect(hear(Self.event(4, "track.muted", muted: true)) == [])
    #expect(hear(Self.event(4, "track.muted", muted: true)) == ["gets event 4 after 4"])
    #expect(
      hear(Self.event(5, "track.muted", muted: true))
        == ["gets event 5, track.muted: the track was not so before"])
    #expect(hear(Self.joined) == ["hears that it has joined, once more"])
    #expect(
      hear(#"{"assignments":[{"mid":"2","track":"TR_9"}],"type":"slots"}"#)
        == ["hears that TR_9 plays in 2, which was not announced"])
    #expect(hear("{").count == 1)
  }

  @Test func `it asks again for what it got no answer to, by the same id`() {
    join()
    let offer = client.ask(.offer) { _ in .offer(.init(sdp: "v=0\r\n\"")) }
    #expect(offer.text == #"{"id":2,"sdp":"v=0\r\n\"","tracks":[],"type":"offer"}"#)
    _ = client.ask(.mute("TR_2", true)) { _ in .mute(.init(track: "TR_2", muted: true)) }
    client.disconnect()
    #expect(
      client.connect(socket(2)).text == #"{"id":4,"after":3,"resumeToken":"token","type":"resume"}"#)
    let actions = client.receive(
      """
      {"answer":{"declined":[],"id":2,"sdp":"answer","slots":[],"tracks":[{"mid":"0","track":"TR_2"}]},"id":4,\
      "lastEvent":3,"resumeToken":"next","slots":[{"mid":"1","track":"TR_1"}],"tracks":[],"type":"resumed"}
      """, now: now
    ) { Issue.record("\($0)") }
    guard case .answered("answer")? = actions.first, case .resumed? = actions.last else {
      Issue.record("\(actions)")
      return
    }
    #expect(client.pending.map(\.id) == [3] && client.tracks == ["0": "TR_2"])
    #expect(client.picture.slots == ["1": "TR_1"])
    #expect(hear(#"{"id":3,"type":"ok"}"#) == [] && client.pending.isEmpty)
  }

  @Test func `a track counts as given up from the answer on, unless it is wanted again`() {
    join()
    _ = client.ask(.unsubscribe("TR_1")) { _ in .unsubscribe(.init(track: "TR_1")) }
    #expect(client.unsubscribed.isEmpty)
    #expect(hear(#"{"id":2,"type":"ok"}"#) == [])
    #expect(client.unsubscribed == ["TR_1": now])
    _ = client.ask(.subscribe("TR_1")) { _ in .subscribe(.init(track: "TR_1", mid: "2")) }
    #expect(client.unsubscribed.isEmpty)
    _ = client.ask(.unsubscribe("TR_1")) { _ in .unsubscribe(.init(track: "TR_1")) }
    _ = client.ask(.subscribe("TR_1")) { _ in .subscribe(.init(track: "TR_1")) }
    #expect(hear(#"{"id":4,"type":"ok"}"#) == [] && client.unsubscribed.isEmpty)
  }

  @Test func `after the end nothing may come`() {
    join()
    #expect(hear(#"{"reason":"removed","type":"closed"}"#) == [] && client.end == "removed")
    #expect(
      hear(#"{"reason":"removed","type":"closed"}"#)
        == [
          #"hears something after its session ended by removed: {"reason":"removed","type":"closed"}"#
        ])
  }

  @Test func `the difference of two pictures is named`() {
    join()
    var other = client.picture
    #expect(client.picture.difference(from: other) == "")
    other.people["PA_b"]?.tracks["TR_1"]?.mute = .publisher
    other.slots["1"] = "TR_1"
    #expect(
      client.picture.difference(from: other)
        == "PA_b: bob with TR_1 (microphone) instead of bob with TR_1 (microphone) muted by publisher; slot 1: nothing instead of TR_1"
    )
  }
}
