import Crypto
import ICE
import Model
import SyntheticPeers
import Testing

@testable import Simulation

/// What the simulation says of each message, by whom it names and to whom it comes.
@Suite("What may be said to whom", .timeLimit(.minutes(1)))
struct MessageJudgementTests {
  /// No participant is connected: messages are made up, and judged.
  private final class Scene {
    let conference: Conference
    private var records: [SocketRecord] = []
    private let certificate: DTLSCertificate

    init() throws {
      conference = try Conference(seed: 1)
      certificate = try DTLSCertificate(notBefore: 1_000_000_000, notAfter: 4_000_000_000)
    }

    /// - Returns: its number.
    @discardableResult
    func enter(_ identity: String, room: Int = 0, _ allowance: Allowance = Allowance()) throws -> Int {
      let number = conference.participants.count
      let address = SocketAddress(ipv4: 10, 0, 0, UInt8(number + 1), port: 1)
      let peer = SyntheticPeer(
        PeerConfiguration(number: number), address: address,
        dtls: try DTLSContext(certificate: certificate), ice: ControllingAgent.Configuration(),
        journal: conference.journal, now: conference.now, random: .seeded(state: 1))
      let client = RoomClient(
        room: "room-\(room)", token: SimulatedToken(identity: identity, issued: 100, allowance: allowance))
      let participant = Participant(
        peer: peer, client: client, room: room, link: 0, inside: address, now: conference.now)
      conference.participants.append(participant)
      conference.books.names["PA_\(identity)"] = number
      conference.books.names["TR_\(identity)"] = number
      records.append(
        SocketRecord(
          SimulatedSocket(number: number, remote: address, outbox: SocketOutbox()), client: client,
          participant: participant))
      return number
    }

    /// What is found wrong with a message to a participant.
    func found(_ text: String, to number: Int) -> [String] {
      let before = conference.journal.violations.count
      conference.judge(text, to: records[number])
      return Array(conference.journal.violations.dropFirst(before))
    }
  }

  private static let hidden: Allowance = {
    var allowance = Allowance()
    allowance.isHidden = true
    return allowance
  }()

  @Test(arguments: ["PA_", "TR_"])
  func `a hidden participant is named to itself alone`(kind: String) throws {
    let scene = try Scene()
    let ada = try scene.enter("ada")
    let eve = try scene.enter("eve", Self.hidden)
    let text = #"{"event":{"participant":{"id":"\#(kind)eve"}},"type":"event"}"#
    let found = scene.found(text, to: ada)
    #expect(found.count == 1 && found[0].contains("0 hears of \(kind)eve, which is hidden"), "\(found)")
    #expect(scene.found(text, to: eve) == [])
    // Others are named to who is hidden and to who isn't; and each name is looked at, not the first alone.
    let other = #"{"event":{"participant":{"id":"PA_ada"}},"type":"event"}"#
    #expect(scene.found(other, to: eve) == [] && scene.found(other, to: ada) == [])
    let both = #"{"participants":[{"id":"PA_ada"},{"id":"\#(kind)eve"}],"type":"joined"}"#
    #expect(scene.found(both, to: ada).count == 1)
  }

  @Test(arguments: ["PA_", "TR_"])
  func `no participant of another room is named`(kind: String) throws {
    let scene = try Scene()
    let ada = try scene.enter("ada")
    let bob = try scene.enter("bob", room: 1)
    let found = scene.found(#"{"id":"\#(kind)bob","type":"event"}"#, to: ada)
    #expect(found.count == 1 && found[0].contains("0 hears of \(kind)bob, in another room"), "\(found)")
    #expect(scene.found(#"{"id":"\#(kind)bob","type":"event"}"#, to: bob) == [])
    // A text that a person wrote is no name.
    #expect(scene.found(#"{"data":"\#(kind)bob is here","type":"data"}"#, to: ada) == [])
  }

  @Test func `a removed participant gets nothing more but the close`() throws {
    let scene = try Scene()
    let ada = try scene.enter("ada")
    let bob = try scene.enter("bob")
    let before = scene.conference.now.advanced(byNanoseconds: -1)
    scene.conference.books.removals[RemovedIdentity(room: "room-0", identity: "ada")] = (before, 100)
    for text in [#"{"type":"pong"}"#, #"{"id":"PA_bob","type":"event"}"#, #"{"type":"joined"}"#] {
      let found = scene.found(text, to: ada)
      #expect(found.count == 1 && found[0].contains("ada, which was removed, is still served"), "\(found)")
      #expect(scene.found(text, to: bob) == [])
    }
    #expect(scene.found(#"{"reason":"removed","type":"closed"}"#, to: ada) == [])
    #expect(scene.found(#"{"code":"token-removed","type":"error"}"#, to: ada) == [])
    // A token of after the removal, another room's removal, and the very moment of it.
    scene.conference.books.removals = [RemovedIdentity(room: "room-0", identity: "ada"): (before, 99)]
    #expect(scene.found(#"{"type":"pong"}"#, to: ada) == [])
    scene.conference.books.removals = [RemovedIdentity(room: "room-1", identity: "ada"): (before, 100)]
    #expect(scene.found(#"{"type":"pong"}"#, to: ada) == [])
    scene.conference.books.removals = [
      RemovedIdentity(room: "room-0", identity: "ada"): (scene.conference.now, 100)
    ]
    #expect(scene.found(#"{"type":"pong"}"#, to: ada) == [])
  }

  @Test func `a participant that may not subscribe gets no track in its slots`() throws {
    let scene = try Scene()
    var deaf = Allowance()
    deaf.canSubscribe = false
    let ada = try scene.enter("ada", deaf)
    let bob = try scene.enter("bob")
    let shown = #"{"slots":[{"mid":"0","track":"TR_bob"}],"type":"slots"}"#
    let found = scene.found(shown, to: ada)
    #expect(found.count == 1 && found[0].contains("0 may not subscribe"), "\(found)")
    #expect(scene.found(#"{"slots":[{"mid":"0"}],"type":"slots"}"#, to: ada) == [])
    #expect(scene.found(shown, to: bob) == [])
  }
}
