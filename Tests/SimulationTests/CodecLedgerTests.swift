import Model
import Testing

@testable import Simulation

/// What publishers are to name of codecs, by what was so and for how long.
@Suite("What the rules say that publishers hear of codecs", .timeLimit(.minutes(1)))
struct CodecLedgerTests {
  fileprivate static func at(_ milliseconds: Int64) -> Instant {
    Instant(nanoseconds: milliseconds * 1_000_000)
  }

  /// One codec, looked at each 50 ms.
  private final class Run {
    private(set) var word = CodecWord()
    private(set) var now: Int64 = 0

    /// - Returns: the words of that time, one for each in a row.
    func pass(_ span: Int64, isLacked: Bool = false, _ each: (inout CodecWord, Instant) -> Void = { _, _ in })
      -> [CodecWord.Expected]
    {
      word.set(isLacked: isLacked, now: CodecLedgerTests.at(now))
      var found: [CodecWord.Expected] = []
      for _ in stride(from: 0, to: span, by: 50) {
        now += 50
        each(&word, CodecLedgerTests.at(now))
        word.pass(to: CodecLedgerTests.at(now))
        if found.last != word.expected { found.append(word.expected) }
      }
      return found
    }
  }

  @Test func `who lacks it has it taken away within 200 ms, and it is named after 5 s`() {
    let run = Run()
    #expect(run.pass(1_000) == [.named])
    #expect(run.pass(200, isLacked: true) == [.either])
    #expect(run.pass(10_000, isLacked: true) == [.unnamed])
    #expect(run.pass(4_950) == [.unnamed])
    #expect(run.pass(400) == [.either])
    #expect(run.pass(1_000) == [.either, .named])
  }

  @Test func `each time it waits twice as long, five minutes at most, and after a calm as at first`() {
    let run = Run()
    for wait in [5, 10, 20, 40, 80, 160, 300, 300] as [Int64] {
      _ = run.pass(1_000, isLacked: true)
      #expect(run.pass(1_000 * wait - 50) == [.unnamed])
      #expect(run.pass(1_000) == [.either, .named])
    }
    _ = run.pass(5_000_000)
    _ = run.pass(1_000, isLacked: true)
    #expect(run.pass(4_950) == [.unnamed])
  }

  @Test func `what lasts for less than 200 ms may have been noticed or not, and so may what follows`() {
    let run = Run()
    _ = run.pass(1_000)
    #expect(run.pass(150, isLacked: true) == [.either])
    #expect(run.pass(5_400) == [.either])
    #expect(run.pass(100) == [.named])
    // Whether it was the first time or the second.
    _ = run.pass(1_000, isLacked: true)
    #expect(run.pass(4_950) == [.unnamed])
    #expect(run.pass(5_400) == [.either])
    #expect(run.pass(200).last == .named)
  }

  @Test func `one that comes back for a moment begins the wait again, or not`() {
    let run = Run()
    _ = run.pass(1_000, isLacked: true)
    _ = run.pass(3_000)
    #expect(run.pass(100, isLacked: true) == [.unnamed])
    #expect(run.pass(1_850) == [.unnamed])
    #expect(run.pass(3_000) == [.either])
    _ = run.pass(500, isLacked: true)
    _ = run.pass(3_000)
    _ = run.pass(500, isLacked: true)
    #expect(run.pass(4_950) == [.unnamed], "for so long it begins again for certain")
  }

  @Test func `while nothing is known, or no one looks, nothing is wrong`() {
    let run = Run()
    #expect(run.pass(3_000, isLacked: true) { $0.standStill($1) } == [.either])
    #expect(run.pass(500, isLacked: true).last == .unnamed)
    #expect(run.pass(3_000) { $0.doubt($1) } == [.either])
    #expect(run.pass(20_000).last == .named)
    _ = run.pass(500, isLacked: true)
    #expect(run.pass(1_000) { $0.empty($1) } == [.either], "another room knows nothing of it")
  }

  @Test func `what is heard is the section's own, in its order, without what somebody lacks`() {
    let (vp8, vp9) = (NamedCodec(96, "VP8"), NamedCodec(98, "VP9"))
    var ledger = CodecLedger()
    #expect(ledger.problem([vp8, vp9], heard: [vp8, vp9]) == nil)
    #expect(ledger.problem([vp8, vp9], heard: [vp8])?.contains("nothing of vp9") == true)
    #expect(ledger.problem([vp8, vp9], heard: [vp9, vp8])?.contains("another order") == true)
    #expect(ledger.problem([vp8], heard: [vp8, vp9])?.contains("not in its section") == true)
    #expect(ledger.problem([vp8], heard: [NamedCodec(97, "VP8")])?.contains("not in its section") == true)
    #expect(ledger.problem([vp8], heard: nil) == "nothing")
    let lacking = CodecLedger.Presence(lacked: ["vp9"])
    ledger.note(lacking, now: Self.at(0))
    #expect(ledger.problem([vp8, vp9], heard: [vp8, vp9]) == nil, "there is time to say it")
    ledger.note(lacking, now: Self.at(201))
    #expect(ledger.problem([vp8, vp9], heard: [vp8, vp9])?.contains("lacks or lacked") == true)
    #expect(ledger.problem([vp8, vp9], heard: [vp8]) == nil)
    #expect(ledger.problem([vp9], heard: []) == nil)
  }
}
