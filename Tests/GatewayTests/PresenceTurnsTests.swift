import Testing

@testable import Gateway

/// Expectations can't change a value.
private final class Turns {
  private var value = PresenceTurns()

  func begin() -> Bool { value.begin() }
  func wait(_ continuation: CheckedContinuation<Void, Never>) { value.wait(continuation) }
  func end() { value.end()?.resume() }
}

@Suite("What the room hears of sockets", .timeLimit(.minutes(1)))
struct PresenceTurnsTests {
  @Test func `a resumption that the room refused is answered by none, and the next has its number`() {
    var resumptions = Resumptions()
    let first = resumptions.begin()
    resumptions.fail()
    let (second, third) = (resumptions.begin(), resumptions.begin())
    #expect([first, second, third] == [1, 1, 2])
    let answered = [resumptions.noteResumed(), resumptions.noteResumed()]
    #expect(answered == [1, 2])
  }

  /// What is said while something else is still being said.
  private actor Speaker {
    private let turns = Turns()
    private(set) var said: [String] = []
    private(set) var waiting = 0
    private(set) var isSpeaking = false

    func say(_ word: String, after gate: AsyncStream<Void>? = nil) async {
      if !turns.begin() {
        waiting += 1
        await withCheckedContinuation { turns.wait($0) }
      }
      isSpeaking = true
      if let gate { for await _ in gate { break } }
      said.append(word)
      turns.end()
    }
  }

  @Test func `changes of presence reach the room one after the other, in the order in which they came`() async
  {
    let speaker = Speaker()
    let gate = AsyncStream<Void>.makeStream()
    let first = Task { await speaker.say("absent", after: gate.stream) }
    while await !speaker.isSpeaking { await Task.yield() }
    let second = Task { await speaker.say("present") }
    while await speaker.waiting == 0 { await Task.yield() }
    let third = Task { await speaker.say("absent again") }
    while await speaker.waiting == 1 { await Task.yield() }
    gate.continuation.yield()
    await second.value
    await third.value
    await first.value
    #expect(await speaker.said == ["absent", "present", "absent again"])
  }
}
