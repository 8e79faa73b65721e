import Model
import Testing

@testable import Rooms

/// What a participant declares of its tracks gives it no more than its share of the slots of others.
@Suite("Shares of slots", .timeLimit(.minutes(2)))
struct SlotFairnessTests {
  var random = RandomSource.seeded(state: 7)

  func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

  mutating func track(_ owner: String, _ kind: MediaKind = .video, screen: Bool = false) -> SlotPolicy.Track {
    SlotPolicy.Track(
      id: TrackID(&random), key: TrackKey(peer: PeerKey(rawValue: random.next()), index: 0), kind: kind,
      owner: owner, group: owner + (screen ? "/screen" : "/camera"), isScreen: screen)
  }

  func slots(_ count: Int) -> [SendSection] {
    (0..<count).flatMap { pair in
      [MediaKind.audio, .video].enumerated().map { offset, kind in
        SendSection(
          index: UInt16(2 * pair + offset), mid: "m\(2 * pair + offset)", kind: kind,
          codecs: [NegotiatedCodec(codec: kind == .video ? .vp8 : .opus, payloadType: 96)],
          extensions: HeaderExtensionMap(), ssrc: UInt32(2 * pair + offset + 1), rtxSSRC: nil,
          cname: "c\(pair)",
          streamID: "s\(pair)")
      }
    }
  }

  func pictures(_ policy: SlotPolicy) -> Set<TrackID> {
    Set(policy.slots.filter { $0.kind == .video }.compactMap(\.track))
  }

  @Test mutating func `thirty-two screens of one participant take one place before everybody's cameras`() {
    for isFirst in [true, false] {
      var policy = SlotPolicy()
      policy.apply(slots(4), now: at(0))
      let screens = (0..<32).map { _ in track("eve", screen: true) }
      let cameras = (0..<6).map { track("p\($0)") }
      if isFirst { policy.add(screens, now: at(0)) }
      policy.add(cameras, now: at(0))
      if !isFirst { policy.add(screens, now: at(0)) }
      #expect(pictures(policy).intersection(screens.map(\.id)) == [screens[0].id])
      #expect(pictures(policy).intersection(cameras.map(\.id)).count == 3)
      // Where there is room for all, the others are shown too, in their turn.
      policy.apply(slots(9), now: at(1))
      #expect(pictures(policy).isSuperset(of: cameras.map(\.id)))
      #expect(pictures(policy).intersection(screens.map(\.id)).count == 3)
      // The second leads once the first is over.
      policy.apply(slots(1), now: at(2))
      #expect(pictures(policy) == [screens[0].id])
      policy.remove(screens[0].id, now: at(2))
      #expect(pictures(policy) == [screens[1].id])
    }
  }

  @Test mutating func `a second camera waits until everybody's first is shown, no matter who speaks`() {
    var policy = SlotPolicy()
    policy.apply(slots(3), now: at(0))
    let greedy = (0..<10).map { _ in track("eve") }
    policy.add(greedy, now: at(0))
    #expect(pictures(policy).count == 3)
    policy.setSpeaking(["eve/camera"], now: at(1))
    let others = (0..<2).map { track("p\($0)") }
    policy.add(others, now: at(1.1))
    #expect(pictures(policy) == [greedy[0].id, others[0].id, others[1].id], "at once, without waiting")
    let late = track("late")
    policy.add([late], now: at(2))
    #expect(policy.standing(of: late.id) == .waiting)
    policy.setSpeaking(["late/camera"], now: at(10))
    #expect(pictures(policy).contains(late.id))
  }

  @Test mutating func `a presenter's camera is its first track beside its screen`() {
    var policy = SlotPolicy()
    policy.apply(slots(2), now: at(0))
    let (screen, camera, other) = (track("ada", screen: true), track("ada"), track("bob"))
    policy.add([screen, other, camera], now: at(0))
    #expect(pictures(policy) == [screen.id, other.id])
    policy.setSpeaking(["ada/camera"], now: at(10))
    #expect(pictures(policy) == [screen.id, camera.id])
  }

  @Test mutating func `what the subscriber asks for comes before all`() {
    var policy = SlotPolicy()
    policy.apply(slots(1), now: at(0))
    let screens = (0..<3).map { _ in track("eve", screen: true) }
    let cameras = (0..<3).map { _ in track("ada") }
    policy.add(screens + cameras, now: at(0))
    policy.setPreference(.explicit(mid: nil), for: cameras[2].id, now: at(0))
    #expect(pictures(policy) == [cameras[2].id])
  }

  /// An own reading of the rule: nothing is shown that comes after something that waits.
  func violation(_ policy: SlotPolicy, _ all: [SlotPolicy.Track], explicit: Set<TrackID>) -> String? {
    for kind in [MediaKind.audio, .video] {
      let shown = Set(policy.slots.filter { $0.kind == kind }.compactMap(\.track))
      var share: [TrackID: Int] = [:]
      var leading: Set<TrackID> = []
      for owner in Set(all.map(\.owner)) {
        let own = all.filter { $0.owner == owner && $0.kind == kind }
        let screen = own.first { $0.isScreen }
        let camera = own.first { !$0.isScreen }
        var place = 0
        for id in [camera?.id, screen?.id].compactMap(\.self)
          + own.map(\.id).filter({ $0 != camera?.id && $0 != screen?.id })
        {
          place += 1
          share[id] = place
        }
        if let screen { leading.insert(screen.id) }
      }
      for track in all where track.kind == kind && !shown.contains(track.id) {
        for id in shown where !explicit.contains(id) {
          if explicit.contains(track.id) { return "asked for, and waits" }
          if leading.contains(id) { continue }
          if leading.contains(track.id) { return "a leading screen waits" }
          if share[id, default: 0] > share[track.id, default: 0] {
            return "a \(share[id, default: 0])th is shown, a \(share[track.id, default: 0])th waits"
          }
        }
      }
    }
    return nil
  }

  @Test mutating func `no participant's n-th track comes before another's (n−1)-th, whatever happens`() {
    for seed in 1...20 as ClosedRange<UInt64> {
      random = .seeded(state: seed)
      var policy = SlotPolicy()
      var all: [SlotPolicy.Track] = []
      var explicit: Set<TrackID> = []
      for step in 0..<250 {
        let now = at(Double(step) / 2)
        switch random.next() % 7 {
        case 0: policy.apply(slots(Int(random.next() % 8)), now: now)
        case 1 where !all.isEmpty:
          let gone = all.remove(at: Int(random.next() % UInt64(all.count)))
          explicit.remove(gone.id)
          policy.remove(gone.id, now: now)
        case 2 where !all.isEmpty && explicit.count < 2:
          let wanted = all[Int(random.next() % UInt64(all.count))].id
          explicit.insert(wanted)
          policy.setPreference(.explicit(mid: nil), for: wanted, now: now)
        case 3: policy.setSpeaking(["p\(random.next() % 5)/camera"], now: now)
        default:
          let next = track(
            "p\(random.next() % 5)", random.next() % 3 == 0 ? .audio : .video, screen: random.next() % 2 == 0)
          all.append(next)
          policy.add([next], now: now)
        }
        let found = violation(policy, all, explicit: explicit)
        #expect(found == nil, "seed \(seed), step \(step)")
        if found != nil { return }
      }
    }
  }
}
