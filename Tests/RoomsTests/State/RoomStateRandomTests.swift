import AccessTokens
import Model
import Peer
import Testing

@testable import Engine
@testable import Rooms

/// Whatever a room hears, in whichever order and after whatever time: it goes on, and each participant's tracks, slots and
/// answers are of its own doing.
@Suite("A room that hears anything", .timeLimit(.minutes(3)))
struct RoomStateRandomTests {
  @Test func `a participant that stops everything while another is due for removal gets its own answer`()
    throws
  {
    let run = StateRun()
    let xenia = try run.join("xenia")
    let yves = try run.join("yves")
    let zoe = try run.join("zoe")
    _ = try yves.offer([.audio, .video])
    _ = try zoe.offer([.audio], receivers: 2)
    xenia.ask(.absent)
    // Due, and the alarm has not come yet.
    run.now = run.now + .seconds(16)
    let answer = try yves.offer(stops: true)
    #expect(answer.tracks.isEmpty && yves.tracks.isEmpty && zoe.tracks.count == 1)
    #expect(yves.notices.contains { if case .on(_, .answer) = $0 { true } else { false } })
    #expect(run.state.members.map(\.identity) == ["yves", "zoe"] && xenia.member == nil)
    #expect(zoe.notices.count { if case .on(_, .answer) = $0 { true } else { false } } == 1)
    #expect(run.alarm == .never)
  }

  @Test func `a transport that is closed while another is due for removal is the one that was named`() throws
  {
    let run = StateRun()
    let xenia = try run.join("xenia")
    let yves = try run.join("yves", opening: nil)
    let (up, other) = (try yves.open(.publishes), try yves.open(.publishes))
    _ = try yves.offer([.audio], on: up)
    _ = try yves.offer([.video], on: other)
    xenia.ask(.absent)
    run.now = run.now + .seconds(16)
    yves.ask(.closeTransport(up))
    #expect(yves.tracks.map(\.kind) == [.video] && run.state.members.count == 1)
  }

  @Test(arguments: 1...40)
  func `anything in any order leaves each participant its own`(seed: UInt64) throws {
    try run(seed, hasStandalone: false)
  }

  @Test(arguments: 41...100)
  func `so it does with encoders and players beside the pages`(seed: UInt64) throws {
    try run(seed, hasStandalone: true)
  }

  private func run(_ seed: UInt64, hasStandalone: Bool) throws {
    var chance = Chance(seed: seed, hasStandalone: hasStandalone)
    let run = StateRun(settings: RoomSettings(departureTimeout: 0))
    for step in 0..<150 {
      let before = Picture(run)
      let actor = chance.act(on: run)
      let problems = Picture(run).problems(after: before, actor: actor, run)
      guard problems.isEmpty else {
        Issue.record("seed \(seed), step \(step), \(chance.last): \(problems.joined(separator: "; "))")
        return
      }
    }
    run.handle(.close(.serverShutdown))
    #expect(run.state.members.isEmpty && run.inside.isEmpty && run.sessions == 0, "seed \(seed)")
    let closed = run.commands.compactMap { command in
      switch command {
      case .close(let key), .dismiss(let key): key
      default: nil as PeerKey?
      }
    }
    #expect(Set(closed).count == closed.count, "seed \(seed)")
    // What the media plane has said to be gone need not be closed.
    #expect(Set(closed).union(chance.lost) == Set(run.added), "seed \(seed)")
  }
}

/// What is compared before and after an input.
private struct Picture {
  /// How many answers each participant was given.
  let answers: [ParticipantID: Int]
  let events: Int
  let tracks: [String: [TrackID]]

  init(_ run: StateRun) {
    answers = run.notices.mapValues { $0.count { if case .on(_, .answer) = $0 { true } else { false } } }
    events = run.events.count
    tracks = Dictionary(
      uniqueKeysWithValues: run.state.members.map { ($0.identity, $0.info.tracks.map(\.id)) })
  }

  /// - Parameter actor: whose doing it was; nil: of those who run the room, of the media plane, or of time.
  func problems(after before: Picture, actor: ParticipantID?, _ run: StateRun) -> [String] {
    var problems: [String] = []
    let members = run.state.members
    if Set(members.filter { $0.session != nil }.map(\.id)) != Set(run.inside)
      || Set(run.inside).count != run.inside.count
    {
      problems.append("those who have a session are not those who are in")
    }
    if run.sessions != members.count { problems.append("\(run.sessions) sessions, \(members.count) members") }
    if Set(members.map(\.identity)).count != members.count { problems.append("an identity is in twice") }
    for (id, count) in answers where count != before.answers[id, default: 0] && id != actor {
      problems.append("\(id.text) was given another's answer")
    }
    // Tracks begin by their publisher's own act, and end by it, by the administrator's, or with their transport.
    for event in run.events[before.events...] where event.kind == .trackPublished {
      if event.participant?.id != actor { problems.append("a track began by another's act") }
    }
    let all = Dictionary(
      members.flatMap { member in member.info.tracks.map { ($0.id, member.id) } },
      uniquingKeysWith: { a, _ in a })
    for member in members {
      for transport in member.transports {
        for track in transport.published where track.key.peer != transport.peer {
          problems.append("a track of \(member.identity) is of another peer")
        }
        for slot in transport.slots.slots {
          guard let track = slot.track else { continue }
          let plays = transport.standalone?.selection.plays(track, of: member.identity, isOwn: true) ?? false
          if all[track] == nil || (all[track] == member.id && !plays) {
            problems.append("\(member.identity) is shown what is not another's track")
          }
        }
        for track in transport.codecChanges.waiting.keys
        where !transport.published.contains(where: { $0.info.id == track }) {
          problems.append("a codec waits for a track that is over")
        }
      }
    }
    for member in members { problems += standaloneProblems(of: member) }
    let peers = members.flatMap { $0.transports.compactMap(\.peer) }
    if Set(peers).count != peers.count { problems.append("two transports have one peer") }
    return problems
  }

  private func standaloneProblems(of member: Member) -> [String] {
    var problems: [String] = []
    if member.session == nil, !member.hasStandalone { problems.append("\(member.identity) is in by nothing") }
    for transport in member.transports {
      guard transport.standalone != nil else {
        if member.session == nil { problems.append("a transport of a session that is over") }
        continue
      }
      let grants = member.grants(on: transport)
      for track in transport.published where !grants.mayPublish(track.info.source, as: track.info.kind) {
        problems.append("\(member.identity) publishes what it may not")
      }
      if !transport.role.publishes, !transport.published.isEmpty { problems.append("a player publishes") }
      if transport.role.publishes, !transport.slots.slots.isEmpty { problems.append("an encoder plays") }
      if !(transport.role.publishes ? grants.canPublish : grants.canSubscribe) {
        problems.append("\(member.identity) keeps a transport by which it may do nothing")
      }
    }
    if member.transports.count(where: { $0.standalone != nil }) > Standalone.limit {
      problems.append("\(member.identity) has too many")
    }
    return problems
  }
}

/// What happens next.
private struct Chance {
  private var random: RandomSource
  private let hasStandalone: Bool
  private var clients: [StateClient] = []
  /// Those that are over, too.
  private var ends: [StandaloneEnd] = []
  /// Peers that were reported as gone.
  private(set) var lost: Set<PeerKey> = []
  /// In words.
  private(set) var last = ""

  init(seed: UInt64, hasStandalone: Bool) {
    random = .seeded(state: seed)
    self.hasStandalone = hasStandalone
  }

  private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

  /// - Returns: whose doing it was.
  mutating func act(on run: StateRun) -> ParticipantID? {
    clients.removeAll { $0.member == nil }
    if hasStandalone, below(4) == 0 { return standalone(run) }
    switch below(20) {
    case 0...2: return join(run)
    case 3...6:
      // Alarms come late, or not at all.
      run.now = run.now + .milliseconds([10, 200, 1_000, 5_000, 16_000][below(5)])
      last = "time"
      return nil
    case 7:
      last = "alarm"
      run.handle(.alarm)
      return nil
    case 8: return media(run)
    case 9: return administration(run)
    default:
      guard !clients.isEmpty else { return join(run) }
      let client = clients[below(clients.count)]
      ask(client, run)
      return client.id
    }
  }

  private mutating func join(_ run: StateRun) -> ParticipantID? {
    let identity = ["ada", "bob", "eve", "ida", "uta"][below(5)]
    let role: TransportRole? = below(4) == 0 ? nil : .both
    let isHidden = below(6) == 0
    last = "join \(identity)"
    guard let client = try? run.join(identity, opening: role, { $0.hidden = isHidden }) else { return nil }
    clients.append(client)
    return client.id
  }

  /// Of those that publish or play without a socket.
  private mutating func standalone(_ run: StateRun) -> ParticipantID? {
    let identity = ["ada", "bob", "eve", "ida", "uta"][below(5)]
    let tracks = run.state.members.flatMap(\.info.tracks)
    let (mayPublish, isHidden) = (below(5) != 0, below(8) == 0)
    let narrow: (inout Grants) -> Void = {
      $0.canPublishSources = mayPublish ? nil : [.microphone]
      $0.hidden = isHidden
    }
    let kinds: [MediaKind] = [[.audio], [.video], [.audio, .video]][below(3)]
    let request = below(8)
    last = "standalone \(request) of \(identity)"
    switch request {
    case 0, 1:
      if let end = try? run.whip(identity, kinds, narrow) { ends.append(end) }
    case 2, 3:
      let selection =
        [
          .all, TrackSelection(participant: "ada"),
          tracks.isEmpty ? .all : TrackSelection(track: tracks[below(tracks.count)].id.text),
        ][below(3)]
      if let end = try? run.whep(identity, audio: below(3), video: below(3), selection, narrow) {
        ends.append(end)
      }
    default:
      guard !ends.isEmpty else { return nil }
      let end = ends[below(ends.count)]
      let asks: [StandaloneRequest] = [
        .look, .close, .close, .change(.any, StandaloneEnd.restarted),
        .change(.any, StandaloneEnd.credentials),
        .change(.tags([end.answer.tag]), nil),
      ]
      // By its own mostly.
      _ = run.ask(end, asks[below(asks.count)], as: below(4) == 0 ? identity : end.identity)
    }
    return run.member(identity)?.id
  }

  private mutating func ask(_ client: StateClient, _ run: StateRun) {
    let transports = client.member?.transports.map(\.id) ?? []
    let transport = transports.isEmpty ? TransportID.first : transports[below(transports.count)]
    let kinds: [MediaKind] = [[.audio], [.video], [.audio, .video], []][below(4)]
    let request = below(16)
    last = "\(request) of \(client.member?.identity ?? "-")"
    switch request {
    case 0...3: _ = try? client.offer(kinds, receivers: below(3), on: transport)
    case 4, 5: _ = try? client.offer(on: transport, stops: true)
    case 6: _ = try? client.offer(kinds, on: transport) { $0.replacing("a=rtcp-mux\r\n", with: "") }
    case 7: _ = try? client.takeOffer(audio: below(3), video: below(3), on: transport)
    case 8: _ = try? client.open([.publishes, .subscribes, .both][below(3)])
    case 9: client.ask(.closeTransport(transport))
    case 10, 11: client.ask(.absent)
    case 12: client.ask(.present(after: below(run.state.lastEvent + 2)))
    case 13: if let track = client.tracks.first { client.ask(.mute(track.id.text, !track.muted)) }
    case 14:
      let tracks = run.state.members.flatMap(\.info.tracks)
      if !tracks.isEmpty {
        client.ask(
          .subscribe(tracks[below(tracks.count)].id.text, mid: nil, PicturePreference(), on: transport))
      }
    default: client.ask(.leave(.left))
    }
  }

  private mutating func media(_ run: StateRun) -> ParticipantID? {
    let transports = run.state.members.flatMap { member in member.transports.map { (member, $0) } }
    let known = transports.filter { $0.1.peer != nil }
    guard !known.isEmpty, let peer = known[below(known.count)].1.peer else { return nil }
    switch below(4) {
    case 0:
      last = "media lost"
      lost.insert(peer)
      var events = PeerEvents(peer: peer)
      events.closed = .connectionLost
      run.handle(.media(events))
    case 1:
      last = "codecs"
      var events = PeerEvents(peer: peer)
      for index in 0..<UInt16(below(3)) { events.startedTracks[index] = CodecFormat([.vp8, .vp9][below(2)]) }
      run.handle(.media(events))
    default:
      last = "samples"
      let heard = run.now + .milliseconds(-below(12_000))
      run.handle(
        .samples(
          known.compactMap { _, transport in
            transport.peer.map { peer in
              PeerSample(
                peer: peer,
                quality: PeerQuality(
                  loss: 0, roundTrip: .zero, lastHeard: heard, bitrates: Bitrates()),
                levels: transport.published.map {
                  ($0.key, TrackLevel(attenuation: UInt8(below(90)), lastPacket: run.now))
                })
            }
          }))
    }
    return nil
  }

  private mutating func administration(_ run: StateRun) -> ParticipantID? {
    guard !clients.isEmpty else { return nil }
    let client = clients[below(clients.count)]
    guard let member = client.member else { return nil }
    switch below(4) {
    case 0:
      last = "remove \(member.identity)"
      run.handle(.administration(.remove(member.identity)))
    case 1:
      last = "permissions of \(member.identity)"
      var patch = ParticipantPatch()
      patch.permissions.canPublish = .set(below(2) == 0)
      patch.permissions.canSubscribe = .set(below(2) == 0)
      run.handle(.administration(.changeParticipant(member.identity, patch)))
    case 2:
      last = "mute of \(member.identity)"
      if let track = client.tracks.first {
        run.handle(.administration(.mute(track: track.id.text, of: member.identity, !track.mutedByAdmin)))
      }
    default:
      last = "rebuild"
      do { try run.rebuild() } catch { Issue.record("\(error)") }
    }
    return nil
  }
}
