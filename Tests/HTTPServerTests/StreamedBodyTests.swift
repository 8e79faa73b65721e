import HTTPServer
import Model
import Testing

/// A body on its way, without socket or source: what it asks for, and what becomes of it.
@Suite("A body that is produced over time", .timeLimit(.minutes(1)))
struct StreamedBodyTests {
  private static let start = Instant(nanoseconds: 1_000_000_000)

  private static func limits() -> HTTPLimits {
    var limits = HTTPLimits()
    limits.writeTime = .seconds(20)
    limits.closeTime = .seconds(2)
    return limits
  }

  private func body(isChunked: Bool = true) -> StreamedBody {
    StreamedBody(head: Array("head|".utf8), isChunked: isChunked, limits: Self.limits())
  }

  /// What waits, taken whole.
  private func take(_ body: inout StreamedBody, _ now: Instant = start) -> String {
    let text = String(decoding: body.waiting, as: UTF8.self)
    body.took(body.waiting.count, now: now)
    return text
  }

  private func fill(_ body: inout StreamedBody, _ text: String, _ step: HTTPBodyStep) {
    body.fill { bytes, _ in
      bytes += Array(text.utf8)
      return step
    }
  }

  @Test func `the head goes first, then each piece as a chunk, and the end`() {
    var body = body()
    #expect(body.next(now: Self.start) == .send(pressing: false))
    #expect(take(&body) == "head|")
    #expect(body.next(now: Self.start) == .ask(ending: nil))
    fill(&body, "eleven word", .more)
    #expect(take(&body) == "0000000b\r\neleven word\r\n")
    #expect(body.next(now: Self.start) == .ask(ending: nil))
    fill(&body, "last", .end)
    #expect(take(&body) == "00000004\r\nlast\r\n0\r\n\r\n")
    #expect(body.next(now: Self.start) == .over(.finished))
  }

  @Test func `a piece of nothing is no chunk, since an empty one would end the body`() {
    var body = body()
    _ = take(&body)
    fill(&body, "", .wait(until: .never))
    #expect(body.waiting.isEmpty && body.next(now: Self.start) == .wait(until: .never, forRoom: false))
    body.look()
    fill(&body, "", .end)
    #expect(take(&body) == "0\r\n\r\n")
  }

  @Test func `what waits for its moment is asked then, or when its signal is raised, and not before`() {
    var body = body()
    _ = take(&body)
    let moment = Self.start + .seconds(15)
    fill(&body, "x", .wait(until: moment))
    _ = take(&body)
    #expect(body.next(now: Self.start + .seconds(14)) == .wait(until: moment, forRoom: false))
    #expect(body.next(now: moment) == .ask(ending: nil))
    fill(&body, "", .wait(until: .never))
    #expect(body.next(now: moment + .seconds(900)) == .wait(until: .never, forRoom: false))
    body.look()
    #expect(body.next(now: moment) == .ask(ending: nil))
  }

  @Test func `without chunks it is as it is; an answer to HEAD is the head alone`() {
    var plain = body(isChunked: false)
    fill(&plain, "text", .end)
    #expect(take(&plain) == "head|text" && plain.next(now: Self.start) == .over(.finished))
    var head = body()
    head.hasNoBody()
    #expect(take(&head) == "head|" && head.next(now: Self.start) == .over(.finished))
  }

  @Test func `a client has its time from the last byte that it took, and is asked for nothing meanwhile`() {
    var body = body()
    fill(&body, "abcdef", .more)
    var now = Self.start
    for _ in 0..<5 {
      #expect(body.next(now: now) == .send(pressing: false))
      body.took(2, now: now)
      body.isFull(now: now)
      #expect(body.next(now: now) == .wait(until: now + .seconds(5), forRoom: true))
      now = now + .seconds(19)
      #expect(body.next(now: now) == .check)
      #expect(body.next(now: now) == .wait(until: now + .seconds(1), forRoom: true))
      body.hasRoom()
    }
    #expect(body.next(now: now) == .send(pressing: false))
  }

  @Test func `one that takes nothing gets the last words pressed behind what waits, whole or not at all`() {
    var body = body()
    fill(&body, "abcdef", .more)
    body.took(7, now: Self.start)
    body.isFull(now: Self.start)
    let late = Self.start + .seconds(20)
    #expect(body.next(now: late) == .ask(ending: .stalled))
    fill(&body, "why", .end)
    #expect(body.next(now: late) == .send(pressing: true))
    #expect(take(&body, late) == "000006\r\nabcdef\r\n00000003\r\nwhy\r\n0\r\n\r\n")
    #expect(body.next(now: late) == .over(.stalled))

    var full = self.body()
    full.isFull(now: Self.start)
    #expect(full.next(now: late) == .ask(ending: .stalled))
    fill(&full, "why", .end)
    #expect(full.next(now: late) == .send(pressing: true))
    full.isFull(now: late)
    #expect(full.next(now: late) == .over(.stalled))
  }

  @Test func `a source that had said all is not asked again for last words`() {
    var body = body()
    fill(&body, "all", .end)
    body.isFull(now: Self.start)
    #expect(body.next(now: Self.start + .seconds(20)) == .send(pressing: true))
    #expect(take(&body) == "head|00000003\r\nall\r\n0\r\n\r\n")
    #expect(body.next(now: Self.start + .seconds(20)) == .over(.stalled))
  }

  @Test func `at a shutdown the source says what it has to say, within the time for that`() {
    var body = body()
    _ = take(&body)
    fill(&body, "", .wait(until: .never))
    body.shutDown(now: Self.start)
    #expect(body.next(now: Self.start) == .ask(ending: .shutdown))
    fill(&body, "rest", .more)
    _ = take(&body)
    #expect(body.next(now: Self.start) == .ask(ending: .shutdown))
    // One that would wait has nothing more to say.
    fill(&body, "bye", .wait(until: .never))
    #expect(take(&body) == "00000003\r\nbye\r\n0\r\n\r\n")
    #expect(body.next(now: Self.start) == .over(.shutdown))

    var slow = self.body()
    fill(&slow, "abc", .more)
    slow.isFull(now: Self.start)
    slow.shutDown(now: Self.start)
    #expect(slow.next(now: Self.start) == .check)
    #expect(slow.next(now: Self.start) == .wait(until: Self.start + .seconds(2), forRoom: true))
    // Only the shortest words have a chance.
    #expect(slow.next(now: Self.start + .seconds(2)) == .ask(ending: .stalled))
    fill(&slow, "bye", .end)
    #expect(slow.next(now: Self.start + .seconds(2)) == .send(pressing: true))
    slow.isFull(now: Self.start + .seconds(2))
    #expect(slow.next(now: Self.start + .seconds(2)) == .over(.shutdown))
  }

  @Test
  func
    `one that makes no room is asked about when its signal is raised and every few seconds, and may be cut off`()
  {
    var body = body()
    fill(&body, "abcdef", .more)
    body.took(7, now: Self.start)
    body.isFull(now: Self.start)
    #expect(body.next(now: Self.start) == .wait(until: Self.start + .seconds(5), forRoom: true))
    body.look()
    #expect(body.next(now: Self.start) == .check)
    #expect(body.next(now: Self.start) == .wait(until: Self.start + .seconds(5), forRoom: true))
    let later = Self.start + .seconds(5)
    #expect(body.next(now: later) == .check)
    body.cutOff(now: later)
    #expect(body.next(now: later) == .ask(ending: .stalled))
    fill(&body, "why", .end)
    #expect(body.next(now: later) == .send(pressing: true))
    #expect(take(&body, later) == "000006\r\nabcdef\r\n00000003\r\nwhy\r\n0\r\n\r\n")
    #expect(body.next(now: later) == .over(.stalled))
  }

  @Test func `a client that has gone ends it at once, whatever waits`() {
    var body = body()
    fill(&body, "abc", .more)
    body.clientWent()
    #expect(body.next(now: Self.start) == .over(.clientGone))
  }

  @Test func `in whatever pieces it is taken, every byte goes once and in order`() {
    for seed in 0..<500 {
      var random = RandomSource.seeded(state: UInt64(seed))
      var body = body()
      var (sent, said): ([UInt8], [UInt8]) = ([], [])
      var now = Self.start
      var pieces = 0
      loop: while true {
        switch body.next(now: now) {
        case .ask:
          pieces += 1
          let piece = (0..<Int.random(in: 0...40, using: &random)).map { _ in
            UInt8.random(in: 97...122, using: &random)
          }
          said += piece
          let isLast = pieces == 30
          let step: HTTPBodyStep =
            isLast ? .end : Bool.random(using: &random) ? .more : .wait(until: now + .seconds(1))
          body.fill { bytes, _ in
            bytes += piece
            return step
          }
        case .send:
          let count = Int.random(in: 0...body.waiting.count, using: &random)
          sent += body.waiting.prefix(count)
          let isAll = count == body.waiting.count
          body.took(count, now: now)
          if !isAll { body.isFull(now: now) }
        case .check: continue
        case .wait(let moment, let forRoom):
          if forRoom { body.hasRoom() }
          now = forRoom ? now + .seconds(1) : moment
        case .over(let end):
          #expect(end == .finished)
          break loop
        }
      }
      let (text, isWhole) = unchunked(Array(sent.dropFirst(5)))
      #expect(isWhole && text == String(decoding: said, as: UTF8.self), "seed \(seed)")
    }
  }
}

/// The content of a chunked body (RFC 9112 §7.1), and whether it has its end.
func unchunked(_ bytes: [UInt8]) -> (text: String, isWhole: Bool) {
  var rest = bytes[...]
  var content: [UInt8] = []
  while let end = rest.firstIndex(of: 13),
    let size = Int(String(decoding: rest[rest.startIndex..<end], as: UTF8.self), radix: 16)
  {
    rest = rest[(end + 2)...]
    if size == 0 { return (String(decoding: content, as: UTF8.self), rest.elementsEqual([13, 10])) }
    content += rest.prefix(size)
    guard rest.count >= size + 2 else { break }
    rest = rest.dropFirst(size + 2)
  }
  return (String(decoding: content, as: UTF8.self), false)
}
