import Model
import Testing

@testable import Rooms

@Suite("Which slot shows which track", .timeLimit(.minutes(2)))
struct SlotPolicyTests {
  var random = RandomSource.seeded(state: 1)

  mutating func track(
    _ kind: MediaKind, _ group: String, screen: Bool = false, codec: CodecFormat? = nil
  ) -> SlotPolicy.Track {
    let key = TrackKey(peer: PeerKey(rawValue: random.next()), index: 0)
    return SlotPolicy.Track(
      id: TrackID(&random), key: key, kind: kind, owner: String(group.prefix { $0 != "/" }), group: group,
      isScreen: screen, codec: codec)
  }

  /// Both tracks of each, in the order of their names.
  mutating func people(_ names: String...) -> [String: (voice: SlotPolicy.Track, picture: SlotPolicy.Track)] {
    var all: [String: (voice: SlotPolicy.Track, picture: SlotPolicy.Track)] = [:]
    for name in names { all[name] = (track(.audio, name), track(.video, name)) }
    return all
  }

  func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

  func slot(_ index: Int, _ kind: MediaKind, pair: Int, codecs: [Codec] = [.opus, .vp8]) -> SendSection {
    SendSection(
      index: UInt16(index), mid: "m\(index)", kind: kind,
      codecs: codecs.filter { $0.kind == kind }.map { NegotiatedCodec(codec: $0, payloadType: 96) },
      extensions: HeaderExtensionMap(), ssrc: UInt32(index), rtxSSRC: nil, cname: "c\(pair)",
      streamID: "s\(pair)")
  }

  /// Pairs of an audio slot 2n and a video slot 2n + 1.
  func pairs(_ count: Int) -> [SendSection] {
    (0..<count).flatMap { [slot(2 * $0, .audio, pair: $0), slot(2 * $0 + 1, .video, pair: $0)] }
  }

  func shown(_ policy: SlotPolicy) -> [TrackID?] { policy.slots.map(\.track) }

  @Test mutating func `sound and picture of one person share a pair, whatever came between`() {
    var policy = SlotPolicy()
    policy.apply(pairs(3), now: at(0))
    #expect(policy.takeChanges().isEmpty)
    let voiceA = track(.audio, "a")
    let voiceB = track(.audio, "b")
    let pictureB = track(.video, "b")
    let pictureA = track(.video, "a")
    let screenA = track(.video, "a/screen", screen: true)
    for next in [voiceA, voiceB, pictureB, pictureA, screenA] {
      policy.add([next], now: at(0))
      #expect(policy.takeChanges().map(\.track) == [next.id])
      #expect(policy.takeChanges().isEmpty)
    }
    #expect(shown(policy) == [voiceA.id, pictureA.id, voiceB.id, pictureB.id, nil, screenA.id])
  }

  @Test mutating func `what is kept of a speaker goes with it, also where it has no track`() {
    var policy = SlotPolicy()
    policy.setSpeaking(["a", "b"], now: at(0))
    policy.forget(["a"])
    policy.setSpeaking([], now: at(1))
    #expect(policy.lastSpoke == ["b": at(1)])
  }

  @Test mutating func `a picture placed beside another's sound returns to its own`() {
    var policy = SlotPolicy()
    policy.apply(pairs(2), now: at(0))
    let voiceA = track(.audio, "a")
    let voiceB = track(.audio, "b")
    let screenA = track(.video, "a/screen", screen: true)
    let pictureA = track(.video, "a")
    for next in [voiceA, voiceB, screenA] { policy.add([next], now: at(0)) }
    #expect(shown(policy) == [voiceA.id, screenA.id, voiceB.id, nil])
    policy.add([pictureA], now: at(0))
    // The sound moves, which costs no key frame.
    #expect(shown(policy) == [voiceB.id, screenA.id, voiceA.id, pictureA.id])
  }

  @Test mutating func `without an empty pair any slot of the kind will do`() {
    var policy = SlotPolicy()
    policy.apply(pairs(1), now: at(0))
    policy.add([track(.audio, "a")], now: at(0))
    let picture = track(.video, "b")
    policy.add([picture], now: at(0))
    #expect(shown(policy)[1] == picture.id)
  }

  @Test mutating func `what finds no slot waits, in order, and is counted by kind`() {
    var policy = SlotPolicy()
    let tracks = [track(.video, "a"), track(.audio, "a"), track(.video, "b"), track(.video, "c")]
    policy.add(tracks, now: at(0))
    #expect(policy.takeChanges().isEmpty && policy.shortage == SlotCount(audio: 1, video: 3))
    policy.apply(pairs(2), now: at(0))
    #expect(Set(policy.takeChanges().map(\.index)) == [0, 1, 3])
    #expect(policy.shortage == SlotCount(audio: 0, video: 1))
    #expect(shown(policy)[1] == tracks[0].id && shown(policy)[0] == tracks[1].id)
    #expect(shown(policy)[3] == tracks[2].id)
    #expect(policy.waiting.map(\.id) == [tracks[3].id])
    #expect(policy.standing(of: tracks[3].id) == .waiting && policy.standing(of: tracks[0].id) == .shown)
  }

  @Test mutating func `never are more sections asked for than an offer can hold`() {
    var policy = SlotPolicy()
    policy.add((0..<100).map { track(.video, "\($0)") }, now: at(0))
    #expect(policy.shortage == SlotCount(audio: 0, video: SlotPolicy.slotLimit))
    policy.apply(pairs(30), now: at(0))
    #expect(policy.shortage == SlotCount(audio: 0, video: SlotPolicy.slotLimit - 30))
  }

  @Test mutating func `a slot that is freed shows a waiting track, and the change is reported once`() {
    var policy = SlotPolicy()
    policy.apply(pairs(1), now: at(0))
    let first = track(.video, "a")
    let second = track(.video, "b")
    policy.add([first, second], now: at(0))
    policy.add([first], now: at(0))
    _ = policy.takeChanges()
    policy.remove(first.id, now: at(0))
    var changed = policy.takeChanges()
    #expect(changed.map(\.index) == [1] && changed.map(\.track) == [second.id])
    policy.remove(second.id, now: at(0))
    changed = policy.takeChanges()
    #expect(changed.map(\.index) == [1] && changed[0].track == nil)
    policy.remove(second.id, now: at(0))
    #expect(policy.takeChanges().isEmpty && policy.shortage == SlotCount(audio: 0, video: 0))
  }

  @Test mutating func `a description without a slot sends its track to another`() {
    var policy = SlotPolicy()
    policy.apply(pairs(2), now: at(0))
    let tracks = [track(.video, "a"), track(.video, "b"), track(.video, "c")]
    policy.add(tracks, now: at(0))
    _ = policy.takeChanges()
    // The second pair's slots go; one comes under a new number.
    policy.apply(
      [slot(0, .audio, pair: 0), slot(1, .video, pair: 0), slot(9, .video, pair: 4)], now: at(0))
    let changed = policy.takeChanges()
    #expect(changed.map(\.index) == [9] && changed[0].track == tracks[1].id)
    #expect(shown(policy) == [nil, tracks[0].id, tracks[1].id])
    policy.apply([], now: at(0))
    #expect(policy.takeChanges().isEmpty && policy.shortage == SlotCount(audio: 0, video: 3))
  }

  // MARK: - Who speaks

  @Test mutating func `a speaker takes the pair of the one silent the longest, sound and picture`() {
    var policy = SlotPolicy()
    let people = people("a", "b", "c", "d")
    for name in ["a", "b", "c", "d"] { policy.add([people[name]!.voice, people[name]!.picture], now: at(0)) }
    policy.apply(pairs(2), now: at(0))
    let (a, b, c) = (people["a"]!, people["b"]!, people["c"]!)
    policy.setSpeaking(["a"], now: at(1))
    policy.setSpeaking([], now: at(2))
    _ = policy.takeChanges()
    policy.setSpeaking(["c"], now: at(10))
    #expect(shown(policy) == [a.voice.id, a.picture.id, c.voice.id, c.picture.id])
    #expect(policy.takeChanges().map(\.index) == [2, 3])
    // Speaking on changes nothing more.
    for second in 11..<30 { policy.setSpeaking(["c"], now: at(Double(second))) }
    #expect(policy.takeChanges().isEmpty && !policy.waitsForSpeaker)
    policy.setSpeaking(["c", "b"], now: at(30))
    #expect(shown(policy) == [b.voice.id, b.picture.id, c.voice.id, c.picture.id])
  }

  @Test mutating func `a participant that speaks, spoke just now or was placed just now stays`() {
    var policy = SlotPolicy()
    let people = people("a", "b")
    policy.add([people["a"]!.voice, people["b"]!.voice], now: at(0))
    policy.apply([slot(0, .audio, pair: 0)], now: at(0))
    policy.setSpeaking(["b"], now: at(1))
    #expect(shown(policy) == [people["a"]!.voice.id] && policy.waitsForSpeaker)
    policy.setSpeaking(["a", "b"], now: at(4))
    #expect(shown(policy) == [people["a"]!.voice.id])
    // A pause for breath.
    policy.setSpeaking(["b"], now: at(5))
    policy.setSpeaking(["b"], now: at(6.9))
    #expect(shown(policy) == [people["a"]!.voice.id])
    policy.setSpeaking(["b"], now: at(7))
    #expect(shown(policy) == [people["b"]!.voice.id] && !policy.waitsForSpeaker)
  }

  @Test mutating func `a quarrel of many about few slots changes a slot at most every three seconds`() {
    var policy = SlotPolicy()
    let names = (0..<9).map { "p\($0)" }
    for name in names { policy.add([track(.audio, name), track(.video, name)], now: at(0)) }
    policy.apply(pairs(2), now: at(0))
    _ = policy.takeChanges()
    var lastChange: [UInt16: Double] = [:]
    var changes = 0
    for tick in 1...1_500 {
      let now = Double(tick) / 5
      let count = Int(random.next() % 4)
      let speaking = Set((0..<count).map { _ in names[Int(random.next() % 9)] })
      policy.setSpeaking(speaking, now: at(now))
      for slot in policy.takeChanges() {
        #expect(now - lastChange[slot.index, default: 0] >= 2.9)
        lastChange[slot.index] = now
        changes += 1
      }
      // Sound and picture never part.
      let groups = policy.slots.map { slot in slot.track.flatMap { policy.group(of: $0) } }
      #expect(groups[0] == groups[1] && groups[2] == groups[3])
    }
    #expect(changes > 0)
  }

  @Test mutating func `a screen comes before faces, at once, and no voice takes its place`() {
    var policy = SlotPolicy()
    let (a, b) = (track(.video, "a"), track(.video, "b"))
    policy.apply([slot(1, .video, pair: 0)], now: at(0))
    policy.add([a, b], now: at(0))
    policy.setSpeaking(["a"], now: at(1))
    let screen = track(.video, "b/screen", screen: true)
    policy.add([screen], now: at(1))
    #expect(shown(policy) == [screen.id])
    policy.setSpeaking(["a", "b"], now: at(100))
    #expect(shown(policy) == [screen.id])
    policy.remove(screen.id, now: at(101))
    #expect(shown(policy) == [a.id])
  }

  // MARK: - What the subscriber wants

  @Test mutating func `what is asked for comes before everything, and stays`() {
    var policy = SlotPolicy()
    policy.apply([slot(1, .video, pair: 0)], now: at(0))
    let tracks = [track(.video, "a"), track(.video, "b"), track(.video, "c/screen", screen: true)]
    policy.add(tracks, now: at(0))
    #expect(shown(policy) == [tracks[2].id])
    policy.setPreference(.explicit(mid: nil), for: tracks[1].id, now: at(0))
    #expect(shown(policy) == [tracks[1].id])
    policy.setSpeaking(["a"], now: at(50))
    #expect(shown(policy) == [tracks[1].id])
    // Two asked for, one slot: the first stays.
    policy.setPreference(.explicit(mid: nil), for: tracks[0].id, now: at(51))
    #expect(shown(policy) == [tracks[1].id])
    policy.setPreference(.none, for: tracks[1].id, now: at(52))
    #expect(shown(policy) == [tracks[0].id] && policy.standing(of: tracks[1].id) == nil)
    policy.setPreference(.none, for: tracks[0].id, now: at(53))
    #expect(shown(policy) == [tracks[2].id] && policy.shortage == SlotCount(audio: 0, video: 0))
  }

  @Test mutating func `a slot of choice is given, also a taken one, and the last word about it holds`() {
    var policy = SlotPolicy()
    policy.apply(pairs(2), now: at(0))
    let tracks = [track(.video, "a"), track(.video, "b"), track(.video, "c")]
    policy.add(tracks, now: at(0))
    #expect(shown(policy) == [nil, tracks[0].id, nil, tracks[1].id])
    policy.setPreference(.explicit(mid: "m3"), for: tracks[0].id, now: at(0))
    #expect(shown(policy) == [nil, tracks[1].id, nil, tracks[0].id])
    policy.setPreference(.explicit(mid: "m3"), for: tracks[2].id, now: at(0))
    #expect(shown(policy) == [nil, tracks[0].id, nil, tracks[2].id])
    // A slot that isn't there, or is of the other kind, is no preference that could be met; the track is shown somewhere.
    policy.setPreference(.explicit(mid: "m0"), for: tracks[1].id, now: at(0))
    #expect(shown(policy)[0] == nil && policy.standing(of: tracks[1].id) == .waiting)
  }

  // MARK: - Codecs

  @Test mutating func `a track goes only where its codec is, and isn't waited for where it is nowhere`() {
    var policy = SlotPolicy()
    policy.apply([slot(1, .video, pair: 0, codecs: []), slot(3, .video, pair: 1)], now: at(0))
    let picture = track(.video, "a", codec: .vp8)
    policy.add([picture], now: at(0))
    #expect(shown(policy) == [nil, picture.id])
    policy.apply([slot(1, .video, pair: 0, codecs: [])], now: at(0))
    #expect(shown(policy) == [nil] && policy.standing(of: picture.id) == .codecMissing)
    #expect(policy.shortage == SlotCount(audio: 0, video: 0))
    // Renegotiated, the same section takes it.
    policy.apply([slot(1, .video, pair: 0)], now: at(0))
    #expect(shown(policy) == [picture.id])
  }

  @Test mutating func `a codec that changes under way frees a slot that lacks it`() {
    var policy = SlotPolicy()
    policy.apply([slot(1, .video, pair: 0, codecs: [])], now: at(0))
    let picture = track(.video, "a")
    policy.add([picture], now: at(0))
    #expect(shown(policy) == [picture.id])
    policy.setCodec(.vp8, of: picture.id, now: at(0))
    #expect(shown(policy) == [nil] && policy.standing(of: picture.id) == .codecMissing)
  }

  // MARK: - Whatever happens

  @Test mutating func `no track is lost, doubled or in a slot of the other kind, whatever happens`() {
    var policy = SlotPolicy()
    var known: [TrackID: SlotPolicy.Track] = [:]
    var unwanted: Set<TrackID> = []
    var nextIndex = 0
    var sections: [SendSection] = []
    var said: [UInt16: TrackID] = [:]
    for step in 0..<3_000 {
      let now = at(Double(step) / 3)
      let someone = known.keys.sorted(by: { $0.text < $1.text }).randomElement(using: &random)
      switch random.next() % 8 {
      case 0 where sections.count < 12:
        sections.append(slot(nextIndex, random.next() % 2 == 0 ? .audio : .video, pair: nextIndex / 2))
        nextIndex += 1
        policy.apply(sections, now: now)
      case 1 where !sections.isEmpty && random.next() % 3 == 0:
        sections.remove(at: Int(random.next() % UInt64(sections.count)))
        policy.apply(sections, now: now)
      case 2:
        guard let someone else { continue }
        policy.remove(someone, now: now)
        known[someone] = nil
        unwanted.remove(someone)
      case 3:
        guard let someone else { continue }
        switch random.next() % 3 {
        case 0:
          policy.setPreference(.none, for: someone, now: now)
          unwanted.insert(someone)
        case 1:
          policy.setPreference(.explicit(mid: nil), for: someone, now: now)
          unwanted.remove(someone)
        default:
          policy.setPreference(
            .explicit(mid: sections.randomElement(using: &random)?.mid), for: someone, now: now)
          unwanted.remove(someone)
        }
      case 4, 5: policy.setSpeaking(Set((0..<2).map { _ in "\(random.next() % 6)" }), now: now)
      default:
        guard known.count < 20 else { continue }
        let next = track(
          random.next() % 2 == 0 ? .audio : .video, "\(random.next() % 6)", screen: random.next() % 5 == 0)
        known[next.id] = next
        policy.add([next], now: now)
      }
      let held = policy.slots.compactMap(\.track) + policy.waiting.map(\.id)
      #expect(held.count == known.count - unwanted.count)
      #expect(Set(held) == Set(known.keys).subtracting(unwanted))
      #expect(policy.slots.allSatisfy { slot in slot.track.map { known[$0]?.kind == slot.kind } ?? true })
      // No track waits beside a free slot.
      for kind in [MediaKind.audio, .video] where policy.waiting.contains(where: { $0.kind == kind }) {
        #expect(!policy.slots.contains { $0.kind == kind && $0.track == nil })
      }
      // What is said adds up to what is.
      for slot in policy.takeChanges() { said[slot.index] = slot.track }
      said = said.filter { entry in policy.slots.contains { $0.index == entry.key } }
      #expect(policy.slots.allSatisfy { said[$0.index] == $0.track })
    }
  }
}
