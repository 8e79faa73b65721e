import Model
import Testing

@testable import Rooms

@Suite("Who is still there", .timeLimit(.minutes(2)))
struct PresenceTests {
  /// A participant on a clock of its own, in seconds.
  struct Run {
    var presence = Presence(grace: .seconds(15))
    var now = 0.0

    static func instant(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

    /// Lets time go by, being called at the deadlines only.
    /// - Returns: what was said, with its second.
    mutating func go(to end: Double) -> [String] {
      var said: [String] = []
      while presence.deadline <= Self.instant(end) {
        now = max(now, Double(presence.deadline.nanoseconds) / 1e9)
        let before = presence.deadline
        while let change = presence.poll(now: Self.instant(now)) { said.append("\(now) \(change)") }
        #expect(presence.deadline > before, "called in vain at \(now)")
        if presence.deadline <= before { break }
      }
      now = end
      return said
    }

    mutating func heard() -> [String] {
      presence.heard(at: Self.instant(now))
      var said: [String] = []
      while let change = presence.poll(now: Self.instant(now)) { said.append("\(now) \(change)") }
      return said
    }

    mutating func loseSocket() { presence.absent(now: Self.instant(now)) }
  }

  @Test func `a participant whose media is heard of stays`() {
    var run = Run()
    #expect(run.presence.deadline == .never)
    for second in 0..<100 {
      #expect(run.go(to: Double(second) * 9.9) == [] && run.heard() == [])
    }
  }

  @Test func `a late sample makes no participant silent`() {
    var run = Run()
    run.presence.heard(at: Run.instant(9))
    run.presence.heard(at: Run.instant(1))
    #expect(run.go(to: 18.9) == [])
    #expect(run.go(to: 19) == ["19.0 reconnecting"])
  }

  @Test func `a socket that stays away longer than the grace ends it`() {
    var run = Run()
    run.loseSocket()
    #expect(run.go(to: 100) == ["15.0 lost"])
    #expect(run.presence.deadline == .never && run.presence.poll(now: Run.instant(1_000)) == nil)
  }

  @Test func `media that stays away is reported once, restarted, and lost 15 s after the report`() {
    var run = Run()
    #expect(run.heard() == [])
    #expect(run.go(to: 100) == ["10.0 reconnecting", "15.0 restartWanted", "25.0 lost"])
  }

  @Test func `media that comes back is reported once, and may go again`() {
    var run = Run()
    #expect(run.heard() == [])
    #expect(run.go(to: 12) == ["10.0 reconnecting"])
    #expect(run.heard() == ["12.0 reconnected"])
    #expect(!run.presence.wantsRestart)
    #expect(run.go(to: 30) == ["22.0 reconnecting", "27.0 restartWanted"])
    #expect(run.presence.wantsRestart)
    #expect(run.heard() == ["30.0 reconnected"])
    #expect(run.go(to: 39) == [] && run.heard() == [])
  }

  @Test func `of both the shorter counts`() {
    // The socket goes late: media is the first.
    var run = Run()
    #expect(run.heard() == [])
    #expect(run.go(to: 12) == ["10.0 reconnecting"])
    run.loseSocket()
    #expect(run.go(to: 100) == ["15.0 restartWanted", "25.0 lost"])
    // Both at once: the socket.
    run = Run()
    #expect(run.heard() == [])
    run.loseSocket()
    #expect(run.go(to: 100) == ["10.0 reconnecting", "15.0 lost"])
  }

  @Test func `a socket in time saves it`() {
    var run = Run()
    run.loseSocket()
    #expect(run.go(to: 14.9) == [])
    run.presence.present()
    #expect(run.go(to: 100) == [])
    run.loseSocket()
    #expect(run.go(to: 114.9) == [])
    // Twice is no later.
    run.loseSocket()
    #expect(run.go(to: 200) == ["115.0 lost"])
  }

  @Test func `a socket that comes back doesn't bring media back`() {
    var run = Run()
    #expect(run.heard() == [])
    run.loseSocket()
    #expect(run.go(to: 14) == ["10.0 reconnecting"])
    run.presence.present()
    #expect(run.go(to: 100) == ["15.0 restartWanted", "25.0 lost"])
  }
}
