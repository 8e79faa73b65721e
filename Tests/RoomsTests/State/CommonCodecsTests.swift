import Model
import Negotiation
import Testing

@testable import Engine
@testable import Rooms

/// Which codecs everybody present takes, as publishers hear of it.
@Suite("Codecs that all take", .timeLimit(.minutes(1)))
struct CommonCodecsTests {
  @Test(arguments: 0..<50)
  func `a format that one subscriber lacks is never offered, and one that all support is offered in time`(
    seed: UInt64
  ) {
    var random = RandomSource.seeded(state: seed)
    var codecs = CommonCodecs()
    var now = Instant(nanoseconds: 1_000_000_000)
    var taken = CodecSet.all
    var since = now
    var additions = 0
    let start = now
    for _ in 0..<2_000 {
      if random.next() % 20 == 0 {
        taken = CodecSet(rawValue: UInt32(truncatingIfNeeded: random.next() | random.next()))
        since = now
      }
      let before = codecs.known
      let changed = codecs.take(taken, now: now)
      #expect(changed == (before != codecs.known))
      #expect(codecs.known.rawValue & ~taken.rawValue == 0)
      if codecs.known.rawValue & ~before.rawValue != 0 { additions += 1 }
      // The set that all have is the same for so long: it is what is known.
      if now - since >= CommonCodecs.patience { #expect(codecs.known == taken) }
      now = now + .milliseconds(Int(random.next() % 500))
    }
    #expect(Double(additions) <= (now - start) / CommonCodecs.patience)
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

  /// Without a codec in the sections for pictures.
  private func lacking(_ name: String) -> (String) -> String {
    { text in
      let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)
      let numbers = lines.compactMap { line in
        line.hasPrefix("a=rtpmap:") && line.contains(" \(name)/")
          ? String(line.dropFirst(9).prefix { $0 != " " }) : nil
      }
      return lines.compactMap { line in
        if line.hasPrefix("m=video") {
          return line.split(separator: " ").enumerated().filter {
            $0.offset < 3 || !numbers.contains(String($0.element))
          }
          .map { String($0.element) }.joined(separator: " ")
        }
        return numbers.contains {
          line.hasPrefix("a=rtpmap:\($0) ") || line.hasPrefix("a=fmtp:\($0) ")
            || line.hasPrefix("a=rtcp-fb:\($0) ")
        }
          ? nil : line
      }.joined(separator: "\r\n")
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
    _ = try eve.offer(receivers: 1, rewrite: lacking("VP9"))
    pass(run, seconds: 1)
    #expect(heard(ada).count == 2)
    #expect(heard(ada).last?.contains("VP9") == false && heard(ada).last?.contains("VP8") == true)
    eve.ask(.leave(.left))
    pass(run, seconds: 4)
    #expect(heard(ada).count == 2)
    pass(run, seconds: 2)
    #expect(heard(ada).count == 3 && heard(ada).last?.contains("VP9") == true)
  }

  @Test func `who may not subscribe has no say, and a restored room goes on where it was`() throws {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer([.video])
    let eve = try run.join("eve")
    _ = try eve.offer(receivers: 1, rewrite: lacking("VP9"))
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

  @Test
  func `a publisher whose section has other codecs by a later offer hears again which of them all take`()
    throws
  {
    let run = StateRun()
    let ada = try run.join("ada")
    _ = try ada.offer([.video])
    pass(run, seconds: 1)
    #expect(heard(ada).count == 1 && heard(ada).last?.contains("VP9") == true)
    _ = try ada.offer(rewrite: lacking("VP9"))
    pass(run, seconds: 1)
    #expect(heard(ada).count == 2 && heard(ada).last?.contains("VP9") == false)
    _ = try ada.offer(rewrite: lacking("VP9"))
    pass(run, seconds: 1)
    #expect(heard(ada).count == 2, "the same codecs again say nothing")
    _ = try ada.offer()
    pass(run, seconds: 1)
    #expect(heard(ada).count == 3 && heard(ada).last?.contains("VP9") == true)
  }
}
