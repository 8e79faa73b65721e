import Model
import Negotiation
import Testing

@testable import Engine
@testable import Rooms

/// Which codecs everybody present takes, as publishers hear of it.
@Suite("Codecs that all take", .timeLimit(.minutes(1)))
struct CommonCodecsTests {
  private static let vp9 = CodecSet(rawValue: 1 << UInt32(CodecFormat(.vp9).rawValue))
  private static let h265 = CodecSet(rawValue: 1 << UInt32(CodecFormat(.h265).rawValue))

  private func without(_ formats: CodecSet...) -> CodecSet {
    CodecSet(rawValue: formats.reduce(UInt32.max) { $0 & ~$1.rawValue })
  }

  @Test(arguments: 0..<50)
  func `a format that one subscriber lacks is never offered, and one that all support is offered in time`(
    seed: UInt64
  ) {
    var random = RandomSource.seeded(state: seed)
    var codecs = CommonCodecs()
    var now = Instant(nanoseconds: 1_000_000_000)
    var taken = CodecSet.all
    var since = Array(repeating: now, count: 32)
    var additions = Array(repeating: 0, count: 32)
    let start = now
    for _ in 0..<5_000 {
      if random.next() % 20 == 0 {
        taken = CodecSet(rawValue: UInt32(truncatingIfNeeded: random.next() | random.next() | random.next()))
      }
      let before = codecs.known
      let changed = codecs.take(taken, now: now)
      #expect(changed == (before != codecs.known))
      #expect(codecs.known.rawValue & ~taken.rawValue == 0)
      var mistakes = 0
      for number in 0..<32 {
        let bit: UInt32 = 1 << UInt32(number)
        if taken.rawValue & bit == 0 { since[number] = now }
        if codecs.known.rawValue & ~before.rawValue & bit != 0 {
          additions[number] += 1
          if now - since[number] < CommonCodecs.shortestWait { mistakes += 1 }
        }
        let isLate = now - since[number] > CommonCodecs.longestWait + .seconds(1)
        if isLate, codecs.known.rawValue & bit == 0 { mistakes += 1 }
      }
      #expect(mistakes == 0)
      now = now + .milliseconds(Int(random.next() % 500))
    }
    // 5, 10, 20, … and then one in the longest wait.
    let most = 7 + (now - start) / CommonCodecs.longestWait
    #expect(additions.allSatisfy { Double($0) <= most })
  }

  /// Takes a format away as soon as it is known.
  /// - Returns: how long it was away each time.
  private func alternate(_ codecs: inout CommonCodecs, _ now: inout Instant, for span: Duration) -> [Duration]
  {
    var spans: [Duration] = []
    let end = now + span
    while now < end {
      _ = codecs.take(without(Self.vp9), now: now)
      let removed = now
      while codecs.known != .all, now < end {
        now = now + .milliseconds(200)
        _ = codecs.take(.all, now: now)
      }
      spans.append(now - removed)
    }
    return spans
  }

  @Test func `a format that comes and goes is added ever later, and soon again after a long calm`() {
    var codecs = CommonCodecs()
    var now = Instant(nanoseconds: 1_000_000_000)
    let spans = alternate(&codecs, &now, for: .seconds(3_600))
    for (span, wait) in zip(spans, [5, 10, 20, 40, 80, 160, 300, 300]) {
      #expect(span >= .seconds(wait) && span <= .seconds(wait + 1))
    }
    #expect(spans.count < 20)
    // It stays for as long as it takes to be trusted again.
    now = now + .seconds(400)
    _ = codecs.take(.all, now: now)
    #expect(codecs.known == .all)
    now = now + .seconds(4_200)
    let later = alternate(&codecs, &now, for: .seconds(30))
    #expect(later.first.map { $0 <= .seconds(6) } == true)
  }

  @Test func `a format that comes and goes holds up no other`() {
    var codecs = CommonCodecs()
    var now = Instant(nanoseconds: 1_000_000_000)
    _ = codecs.take(without(Self.vp9, Self.h265), now: now)
    for step in 0..<6 {
      now = now + .seconds(1)
      _ = codecs.take(step % 2 == 0 ? .all : without(Self.h265), now: now)
    }
    #expect(codecs.known == without(Self.h265))
  }

  private func heard(_ client: StateClient) -> [[String]] {
    client.notices.compactMap {
      if case .on(_, .publish(_, let advice)) = $0 { advice.codecs.map(\.name) } else { nil }
    }
  }

  /// Passes time as the samples of the media plane do.
  private func pass(_ run: StateRun, seconds: Int) {
    for _ in 0..<2 * seconds {
      run.now = run.now + .milliseconds(500)
      run.handle(.samples([]))
    }
  }

  @Test func `who lacks a codec takes it from all at once, and gives it back a while after going`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer([.video])
    pass(run, seconds: 1)
    #expect(heard(ada).last?.contains("VP9") == true && heard(ada).count == 1)
    let bob = try run.join("bob")
    _ = try bob.offer(receivers: 1)
    pass(run, seconds: 1)
    #expect(heard(ada).count == 1, "one who takes all changes nothing")
    let eve = try run.join("eve")
    pass(run, seconds: 1)
    #expect(heard(ada).count == 1, "nor does one who has offered nothing yet")
    _ = try eve.offer(receivers: 1, rewrite: StateClient.lacking("VP9"))
    pass(run, seconds: 1)
    #expect(heard(ada).count == 2)
    #expect(heard(ada).last?.contains("VP9") == false && heard(ada).last?.contains("VP8") == true)
    eve.ask(.leave(.left))
    pass(run, seconds: 4)
    #expect(heard(ada).count == 2)
    pass(run, seconds: 2)
    #expect(heard(ada).count == 3 && heard(ada).last?.contains("VP9") == true)
  }

  @Test func `where subscribers share no format, the most widely supported ones are common`() {
    let (vp8, h264) = (CodecSet(takenBy: [CodecFormat.vp8]), CodecSet(takenBy: [CodecFormat(.h264)]))
    let both = vp8.union(h264)
    #expect(CodecSet(takenByMost: []) == .all)
    #expect(CodecSet(takenByMost: [both, .all, vp8]) == vp8)
    #expect(CodecSet(takenByMost: [vp8, vp8, h264]) == vp8, "one can't have publishers left without advice")
    #expect(CodecSet(takenByMost: [vp8, h264]) == both)
    #expect(CodecSet(takenByMost: [CodecSet(rawValue: 0)]).rawValue == 0)
  }

  @Test func `somebody who shares no codec with the others takes none from them`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer([.video])
    for name in ["bob", "eve"] {
      _ = try run.join(name).offer(
        receivers: 1,
        rewrite: {
          StateClient.lacking("H264")(
            StateClient.lacking("H265")(StateClient.lacking("AV1")(StateClient.lacking("VP9")($0))))
        })
    }
    pass(run, seconds: 1)
    #expect(heard(ada).last == ["VP8"])
    let mal = try run.join("mal")
    _ = try mal.offer(
      receivers: 1,
      rewrite: { StateClient.lacking("VP8")(StateClient.lacking("AV1")(StateClient.lacking("VP9")($0))) })
    pass(run, seconds: 1)
    #expect(heard(ada).last == ["VP8"])
  }

  @Test func `who may not subscribe has no say, and a restored room goes on where it was`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer([.video])
    let eve = try run.join("eve")
    _ = try eve.offer(receivers: 1, rewrite: StateClient.lacking("VP9"))
    pass(run, seconds: 1)
    #expect(heard(ada).last?.contains("VP9") == false)
    try run.rebuild()
    let count = heard(ada).count
    pass(run, seconds: 2)
    #expect(heard(ada).count == count)
    var patch = ParticipantPatch()
    patch.permissions.canSubscribe = .set(false)
    run.handle(.administration(.changeParticipant("eve", patch)))
    pass(run, seconds: 7)
    #expect(heard(ada).count == count + 1 && heard(ada).last?.contains("VP9") == true)
  }

  @Test func `one that alternates its offers has publishers change their codecs ever less often`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer([.video])
    let eve = try run.join("eve")
    _ = try eve.offer(receivers: 1)
    pass(run, seconds: 1)
    for _ in 0..<40 {
      _ = try eve.offer(rewrite: StateClient.lacking("VP9"))
      pass(run, seconds: 1)
      _ = try eve.offer()
      pass(run, seconds: 6)
    }
    // In 280 s; without end it would be eighty times.
    #expect((3...5).contains(heard(ada).count), "\(heard(ada).count)")
  }

  @Test
  func `a publisher whose section has other codecs by a later offer hears again which of them all take`()
    throws
  {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer([.video])
    pass(run, seconds: 1)
    #expect(heard(ada).count == 1 && heard(ada).last?.contains("VP9") == true)
    _ = try ada.offer(rewrite: StateClient.lacking("VP9"))
    pass(run, seconds: 1)
    #expect(heard(ada).count == 2 && heard(ada).last?.contains("VP9") == false)
    _ = try ada.offer(rewrite: StateClient.lacking("VP9"))
    pass(run, seconds: 1)
    #expect(heard(ada).count == 2, "the same codecs again say nothing")
    _ = try ada.offer()
    pass(run, seconds: 1)
    #expect(heard(ada).count == 3 && heard(ada).last?.contains("VP9") == true)
  }

  @Test func `where nothing is left that all take, the publisher hears so, and again when it comes back`()
    throws
  {
    let run = StateRun()
    let ada = try run.join("ada")
    let onlyVP9 = ["VP8", "H264", "H265", "AV1"].map { StateClient.lacking($0) }
    _ = try ada.offer([.video], rewrite: { text in onlyVP9.reduce(text) { $1($0) } })
    pass(run, seconds: 1)
    #expect(heard(ada) == [["VP9"]])
    let eve = try run.join("eve")
    _ = try eve.offer(receivers: 1, rewrite: StateClient.lacking("VP9"))
    pass(run, seconds: 1)
    #expect(heard(ada) == [["VP9"], []])
    ada.ask(.absent)
    ada.ask(.present(after: 0))
    let resumed = ada.notices.compactMap {
      if case .resumed(let state) = $0 { state.notices } else { nil }
    }
    let again = try #require(resumed.last).compactMap {
      if case .on(_, .publish(_, let advice)) = $0 { advice.codecs.map(\.name) } else { nil }
    }
    #expect(again == [[]])
    eve.ask(.leave(.left))
    pass(run, seconds: 7)
    #expect(heard(ada) == [["VP9"], [], ["VP9"]])
  }

  @Test func `what is known of codecs goes on from the room's bytes`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer([.video])
    let eve = try run.join("eve")
    _ = try eve.offer(receivers: 1, rewrite: StateClient.lacking("VP9"))
    pass(run, seconds: 1)
    eve.ask(.leave(.left))
    pass(run, seconds: 1)
    let before = run.state.commonCodecs
    #expect(before.formats.values.contains { $0.since != nil && $0.removed != nil })
    try run.rebuild()
    #expect(run.state.commonCodecs == before)
  }
}
