import Model
import SyntheticPeers
import Testing

@testable import Simulation

/// What is said of sound that a server holds back, leaves out or crowds out.
@Suite("Sound on its way to one slot", .timeLimit(.minutes(1)))
struct SoundAuditTests {
  private static func at(_ milliseconds: Int) -> Instant {
    Instant(nanoseconds: 1_000_000_000 + Int64(milliseconds) * 1_000_000)
  }

  /// Sound of one source, a packet every 20 ms, that leaves as it comes over a path of 30 ms.
  private static func sound(_ count: Int, from first: Int = 0, of publisher: Int = 1) -> SoundAudit {
    var sound = SoundAudit()
    for number in first..<first + count {
      let moment = at(number * 20)
      sound.packets.append(
        SoundAudit.Packet(
          track: TrackName(publisher, 0), number: number, arrivedAt: moment, leftAt: moment,
          cameAt: moment + .milliseconds(30)))
    }
    return sound
  }

  private static func arrival(_ track: TrackName, _ number: Int) -> Instant? { at(number * 20) }

  @Test func `what leaves as it comes is right`() {
    let sound = Self.sound(500)
    #expect(sound.held.isEmpty)
    #expect(sound.withheld(arrival: Self.arrival, isFedOn: { _, _ in true }).isEmpty)
    #expect(sound.silences(over: .milliseconds(20), isFedOn: { _, _ in true }).isEmpty)
  }

  @Test func `a packet may stay for 20 ms and no longer`() {
    var sound = Self.sound(10)
    sound.packets[4].leftAt = sound.packets[4].arrivedAt + .milliseconds(20)
    #expect(sound.held.isEmpty)
    sound.packets[6].leftAt = sound.packets[6].arrivedAt + .milliseconds(21)
    #expect(sound.held.map(\.number) == [6])
    // What came before its time was taken by chance.
    sound.packets[6].arrivedAt = .never
    #expect(sound.held.isEmpty)
  }

  @Test func `what came between two that left is missing, and nothing else is`() {
    var sound = Self.sound(10)
    sound.packets.remove(at: 5)
    let found = sound.withheld(arrival: Self.arrival, isFedOn: { _, _ in true })
    #expect(found.map { $0.number } == [5] && found.map { $0.track } == [TrackName(1, 0)])
    // It never came, or its slot had another source meanwhile.
    for missing in [Instant.never, nil] as [Instant?] {
      let without = { (track: TrackName, number: Int) -> Instant? in
        number == 5 ? missing : Self.arrival(track, number)
      }
      #expect(sound.withheld(arrival: without, isFedOn: { _, _ in true }).isEmpty)
    }
    #expect(sound.withheld(arrival: Self.arrival, isFedOn: { _, _ in false }).isEmpty)
    // From one source to another nothing is counted.
    var other = Self.sound(5)
    other.packets += Self.sound(5, from: 20, of: 2).packets
    #expect(other.withheld(arrival: Self.arrival, isFedOn: { _, _ in true }).isEmpty)
  }

  @Test func `a slot that hears nothing is found where it has the same source`() {
    var sound = Self.sound(100)
    for index in 40..<60 { sound.packets[index].cameAt = nil }
    let found = sound.silences(over: .milliseconds(400), isFedOn: { _, _ in true })
    #expect(found.count == 1)
    #expect(found.first?.from == Self.at(39 * 20 + 30) && found.first?.until == Self.at(60 * 20 + 30))
    #expect(sound.silences(over: .milliseconds(420), isFedOn: { _, _ in true }).isEmpty)
    #expect(sound.silences(over: .milliseconds(400), isFedOn: { _, _ in false }).isEmpty)
  }

  @Test(arguments: [(0.0, 2, 3), (0.05, 13, 14), (0.01, 5, 6)])
  func `a span may lose what its path loses, and chance with it`(loss: Double, most: Int, tooMany: Int) {
    var span = SoundTally.Span(sent: 100)
    span.lost = most
    #expect(!span.losesTooMany(loss))
    span.lost = tooMany
    #expect(span.losesTooMany(loss))
  }

  @Test func `spans are two seconds of all that left, with what was lost and what waited`() {
    var sound = Self.sound(250)
    for index in 0..<3 { sound.packets[index].isLost = true }
    // 30 ms are the path's; 100 ms more may be waited.
    for index in 60..<70 { sound.packets[index].cameAt = sound.packets[index].leftAt + .milliseconds(131) }
    sound.packets[70].cameAt = sound.packets[70].leftAt + .milliseconds(130)
    var tally = SoundTally()
    tally.add(sound.packets, delay: .milliseconds(30))
    // From the first second of the clock to the sixth.
    #expect(tally.spans.keys.sorted() == [0, 1, 2])
    #expect(tally.spans[0]?.sent == 50 && tally.spans[1]?.sent == 100 && tally.spans[2]?.sent == 100)
    #expect(tally.spans[0]?.lost == 3 && tally.spans[1]?.lost == 0)
    #expect(tally.spans[1]?.late == 10 && tally.spans[1]?.waitsTooLong == true)
    #expect(tally.spans[0]?.waitsTooLong == false && tally.spans[2]?.waitsTooLong == false)
    #expect(SoundTally.begin(2) == Instant(nanoseconds: 4_000_000_000))
    // One in twenty may.
    let waits = [5, 6].map { SoundTally.Span(sent: 100, late: $0).waitsTooLong }
    #expect(waits == [false, true])
  }
}
