import Crypto
import Gateway
import Model
import Rooms
import Signalling
import Testing

@testable import Simulation

@Suite("The control plane on a virtual clock", .timeLimit(.minutes(2)))
struct ControlPlaneTests {
  /// The native door and its rooms, and who knocks there.
  private final class House {
    let control: ControlPlane
    private let server: SimulatedServer
    private(set) var now = Instant(nanoseconds: 1_000_000_000)
    private var said: [Int: [String]] = [:]

    init() throws {
      let certificate = try DTLSCertificate(notBefore: 1_000_000_000, notAfter: 4_000_000_000)
      let epoch = Epoch(ntpAtZero: NTPTime(unixNanoseconds: VirtualClock.wallTimeAtZero))
      server = SimulatedServer(
        workers: 1, address: SocketAddress(ipv4: 203, 0, 113, 1, port: 7_882), epoch: epoch,
        dtls: try DTLSContext(certificate: certificate), seed: 1)
      control = ControlPlane(
        server, certificate: certificate, epoch: epoch, peers: 10, random: .seeded(state: 1),
        order: .seeded(state: 1))
      control.begin(now: now)
    }

    func close() { control.end() }

    /// One that is issued now.
    func token(_ identity: String) -> String {
      SimulatedToken(identity: identity, issued: SimulatedToken.seconds(now)).text
    }

    func pass(_ span: Duration) {
      let end = now + span
      _ = control.run()
      while control.deadline <= end {
        control.advance(to: control.deadline)
        _ = control.run()
      }
      now = end
      control.advance(to: end)
    }

    /// What was said on a socket since this was last asked.
    func heard(_ socket: SimulatedSocket) -> [String] {
      pass(.zero)
      for entry in control.outbox.take() {
        switch entry.content {
        case .text(let text): said[entry.socket, default: []].append(text)
        case .close(let code): said[entry.socket, default: []].append("\(code)")
        }
      }
      defer { said[socket.number] = nil }
      return said[socket.number] ?? []
    }

    struct Refused: Error {}

    func join(_ identity: String) throws -> (SimulatedSocket, token: String) {
      let socket = control.open(room: "room")
      socket.receive(ClientMessage(.auth(.init(token: token(identity))), id: RequestID(1)).json)
      let texts = heard(socket)
      #expect(texts.count == 1)
      guard case .joined(let joined) = try ServerMessage(json: try #require(texts.first)).content else {
        throw Refused()
      }
      return (socket, joined.resumeToken)
    }
  }

  @Test func `a session lives on for the grace, and no longer`() throws {
    let house = try House()
    defer { house.close() }
    let (ada, token) = try house.join("ada")
    let (bob, _) = try house.join("bob")
    #expect(house.heard(ada).count == 1)
    ada.hangUp(inGoodOrder: false)
    house.pass(ControlPlane.grace - .milliseconds(500))
    let back = house.control.open(room: "room")
    back.receive(ClientMessage(.resume(.init(resumeToken: token, after: 3)), id: RequestID(1)).json)
    guard
      case .resumed(let resumed) = try ServerMessage(json: try #require(house.heard(back).first)).content
    else { throw House.Refused() }
    #expect(resumed.lastEvent == 3)
    back.hangUp(inGoodOrder: false)
    #expect(house.heard(bob).isEmpty)
    house.pass(ControlPlane.grace + .milliseconds(300))
    guard case .event(let left) = try ServerMessage(json: try #require(house.heard(bob).first)).content else {
      throw House.Refused()
    }
    #expect(left.type == .participantLeft && left.reason == .connectionLost)
    let late = house.control.open(room: "room")
    late.receive(
      ClientMessage(.resume(.init(resumeToken: resumed.resumeToken, after: 3)), id: RequestID(1)).json)
    let texts = house.heard(late)
    #expect(texts.count == 2 && texts[0].contains("session-gone") && texts[1] == "4007")
  }

  @Test func `a socket that does not authenticate is closed in time`() throws {
    let house = try House()
    defer { house.close() }
    let socket = house.control.open(room: "room")
    house.pass(.milliseconds(4_900))
    #expect(house.heard(socket).isEmpty)
    house.pass(.milliseconds(200))
    let texts = house.heard(socket)
    #expect(texts.count == 2 && texts[0].contains("auth-required") && texts[1] == "4001")
  }

  @Test func `a removed participant stays out with its earlier token`() throws {
    let house = try House()
    defer { house.close() }
    let (ada, _) = try house.join("ada")
    _ = house.control.perform { directory in try? await directory.remove("ada", from: "room") }
    let texts = house.heard(ada)
    #expect(
      texts.count == 2 && texts[0].contains(#""reason":"removed","type":"closed""#) && texts[1] == "4010")
    let again = house.control.open(room: "room")
    again.receive(ClientMessage(.auth(.init(token: house.token("ada"))), id: RequestID(1)).json)
    #expect(house.heard(again).first?.contains("token-removed") == true)
    house.pass(.seconds(2))
    _ = try house.join("ada")
  }

  @Test func `the drained server empties`() throws {
    let house = try House()
    defer { house.close() }
    let (ada, _) = try house.join("ada")
    _ = house.control.perform { directory in await directory.drain(for: .seconds(1)) }
    #expect(house.heard(ada).first?.contains("draining") == true)
    let late = house.control.open(room: "room")
    late.receive(ClientMessage(.auth(.init(token: house.token("bob"))), id: RequestID(1)).json)
    #expect(house.heard(late).first?.contains("unavailable") == true)
    let emptied = house.control.perform { directory in
      await directory.close()
      await directory.waitUntilEmpty()
      return true
    }
    #expect(emptied == true)
    #expect(house.heard(ada).first?.contains("serverShutdown") == true)
    house.pass(.seconds(3))
    let left = house.control.directory.remainders
    #expect(left.rooms == 0 && left.sessions == 0 && left.peers == 0 && left.alarms == 0)
    #expect(house.control.tokens.count == 0)
  }
}
