import Testing

@testable import Load

@Suite("How a ramp ends", .timeLimit(.minutes(1)))
struct RampTests {
  private func span(_ arrived: Int, of expected: Int, milliseconds: Int64 = 10) -> MeasuredSpan {
    var span = MeasuredSpan()
    (span.sent, span.expected, span.arrived) = (expected, expected, arrived)
    for _ in 0..<100 { span.delay.add(nanoseconds: milliseconds * 1_000_000) }
    return span
  }

  private let ramp = Ramp(.subscribers, step: 2, most: 100)

  private func verdict(_ span: MeasuredSpan, _ failures: [String: Int] = [:]) -> String? {
    ramp.verdict(span, failures: failures, participants: 10)
  }

  @Test func `up to the limits it holds`() {
    #expect(verdict(span(1_000, of: 1_000)) == nil)
    #expect(verdict(span(990, of: 1_000)) == nil)
    #expect(verdict(span(1_000, of: 1_000, milliseconds: 200)) == nil)
    // A frame that came at the edge of the span.
    #expect(verdict(span(1_001, of: 1_000)) == nil)
  }

  @Test func `loss, delay, and those who can't get in break it, and it says which`() throws {
    #expect(try #require(verdict(span(989, of: 1_000))).hasPrefix("1.10 % were lost, above 1.00 %"))
    #expect(try #require(verdict(span(0, of: 0))).contains("100.00 % were lost"))
    let late = try #require(verdict(span(1_000, of: 1_000, milliseconds: 207)))
    #expect(late.hasPrefix("95 of 100 took up to") && late.hasSuffix("above 200 ms"))
    #expect(verdict(span(1_000, of: 1_000), ["status 503": 3]) == "3 of 10 are not in: status 503")
  }

  @Test func `where this machine's decoders are late, it says so`() throws {
    var slow = span(1_000, of: 1_000, milliseconds: 300)
    for _ in 0..<100 { slow.decoding.add(nanoseconds: 90_000_000) }
    #expect(try !#require(verdict(slow)).contains("decoders"))
    for _ in 0..<100 { slow.decoding.add(nanoseconds: 250_000_000) }
    #expect(try #require(verdict(slow)).contains("; the decoders of this machine took up to"))
  }

  @Test func `pictures that this machine had no time for are not laid to the server`() throws {
    var slow = span(900, of: 1_000)
    slow.missed = 11
    #expect(try #require(verdict(slow)).contains("this machine had no time"))
    var few = span(1_000, of: 1_000)
    few.missed = 10
    #expect(verdict(few) == nil)
  }

  @Test func `the last step that held and the one that broke are named`() {
    var report = RampReport(ramp)
    #expect(report.held == nil && report.rows.contains { $0 == ("held", "no step") })
    report.steps = [(4, nil), (6, nil), (8, "3.00 % were lost")].map { count, broke in
      RampStep(participants: count, rooms: 1, from: 0, to: 5, span(970, of: 1_000), broke: broke)
    }
    #expect(report.held?.participants == 6 && report.broke?.participants == 8)
    #expect(report.rows.contains { $0 == ("held", "6 participants in 1 room") })
    #expect(report.rows.contains { $0 == ("broke at", "8 participants in 1 room: 3.00 % were lost") })
  }

  @Test func `a ramp is good where its first step holds, whatever breaks later`() {
    var report = LoadReport()
    report.ramp = RampReport(ramp)
    #expect(!report.isGood)
    report.ramp?.steps = [RampStep(participants: 4, rooms: 1, from: 0, to: 5, span(1, of: 1), broke: nil)]
    (report.participants, report.joined, report.failures) = (6, 5, ["status 503": 1])
    #expect(report.isGood)
    report.real = RealReport()
    #expect(report.isGood)
    report.real?.pictures.corrupt = 1
    #expect(!report.isGood)
  }

  // MARK: The command line

  private func options(_ line: String) throws -> LoadOptions {
    try LoadOptions(line.split(separator: " ").map(String.init))
  }

  @Test func `its options are taken in any order`() throws {
    let given = try #require(
      try options("--most-delay 80 --ramp-to 100 --ramp rooms:3 --most-loss 0.5 --publishers 2").ramp)
    #expect((given.unit, given.step, given.most, given.delay) == (.rooms, 3, 100, 80))
    #expect(abs(given.loss - 0.005) < 1e-9)
    #expect(try options("--publishers 2").ramp == nil)
  }

  @Test(arguments: [
    ("--ramp 4", "subscribers:N"), ("--ramp rooms", "subscribers:N"), ("--ramp rooms:0", "from 1 to 1000"),
    ("--ramp publishers:2", "subscribers:N"), ("--ramp rooms:1:2", "subscribers:N"),
    ("--ramp-to 10", "go with --ramp"), ("--most-loss 1", "go with --ramp"),
    ("--most-delay 5", "go with --ramp"), ("--ramp rooms:1 --most-loss -1", "percent from 0 to 100"),
    ("--ramp rooms:1 --most-loss nan", "percent from 0 to 100"),
    ("--ramp rooms:1 --subscribers 0", "what arrives"), ("--ramp rooms:1 --publishers 0", "what arrives"),
    ("--ramp rooms:1 --publishers 1 --subscribers 0 --mesh", "what arrives"),
    ("--ramp subscribers:1 --publishers 33 --subscribers 0 --mesh", "at most 32 slots"),
  ]) func `what can't be followed is named`(line: String, word: String) {
    let error = #expect(throws: LoadUsageError.self) { try options(line) }
    #expect(error?.description.contains(word) == true, "\(error?.description ?? "")")
  }
}
