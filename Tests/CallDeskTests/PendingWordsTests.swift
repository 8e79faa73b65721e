import Calls
import Testing

@testable import CallDesk

@Suite("Words that wait for the store", .timeLimit(.minutes(1)))
struct PendingWordsTests {
  private let ada = PersonID("ada")

  private func time(_ moment: Int64) -> CallTime { CallTime(wall: moment, steady: moment) }

  private func uuid(_ number: UInt64) -> CallUUID { CallUUID(random: (number, number)) }

  @Test func `of one source the last 32 are kept at most, with when its media stood first`() {
    let words = PendingWords()
    let source = PendingWords.Source.session(uuid(1), of: ada, in: uuid(2))
    for turn in 0..<Int64(100) {
      words.say(.media(turn.isMultiple(of: 2) ? .stands : .gone), of: source, at: time(turn))
    }
    let kept = words.words(of: [source])
    #expect(kept.count == 32)
    #expect(kept.first?.at == time(0) && kept.first?.what == .media(.stands))
    #expect(kept.last?.at == time(99) && kept.last?.what == .media(.gone))
  }

  @Test func `what is written down is forgotten, and what was said meanwhile is kept`() {
    let words = PendingWords()
    let (mine, other) = (PendingWords.Source.readers(ada), PendingWords.Source.removal("call-1", ada))
    words.say(.read(by: EventReaders()), of: mine, at: time(1))
    words.say(.removed, of: other, at: time(2))
    let (sources, last) = words.sources
    #expect(sources == [other, mine])
    words.say(.read(by: EventReaders(isAnyUnnamed: true)), of: mine, at: time(3))
    words.forget(sources, upTo: last)
    #expect(words.words(of: [mine, other]).map(\.at) == [time(3)] && !words.has(other))
    words.forget([mine], upTo: words.last)
    #expect(words.isEmpty)
  }

  @Test func `a removal is kept once, and of many as many as may be`() {
    let words = PendingWords()
    for turn in 0..<65_536 {
      let source = PendingWords.Source.removal("call-\(turn)", ada)
      guard words.say(.removed, of: source, at: time(0)) else {
        Issue.record("\(turn) are kept")
        return
      }
    }
    #expect(words.say(.removed, of: .removal("call-0", ada), at: time(1)))
    #expect(words.words(of: [.removal("call-0", ada)]).map(\.at) == [time(0)])
    #expect(!words.say(.ended, of: .end("call-more"), at: time(1)))
    // Media takes none of their places.
    #expect(words.say(.media(.stands), of: .session(uuid(1), of: ada, in: uuid(2)), at: time(1)))
    words.forget([.removal("call-0", ada)], upTo: words.last)
    #expect(words.say(.ended, of: .end("call-more"), at: time(1)))
  }
}
