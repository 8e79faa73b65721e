import Testing

@testable import Load

@Suite("What roost-load prints", .timeLimit(.minutes(2)))
struct LoadReportTests {
  private func report() -> LoadReport {
    var report = LoadReport()
    (report.participants, report.joined, report.seconds) = (3, 3, 10)
    (report.sent, report.expected, report.arrivedFirstTime, report.recovered) = (500, 1_000, 980, 15)
    return report
  }

  @Test func `never is what neither way brought`() {
    #expect(report().never == 5)
    #expect(report().table.contains("never                5 (0.500 %)"))
    #expect(report().json.contains(#""never":5"#))
  }

  @Test func `a run is good when all are in and nothing came that was not sent`() {
    #expect(report().isGood)
    var failed = report()
    failed.joined = 2
    failed.failures = ["status 503": 1]
    #expect(!failed.isGood && failed.table.contains("failed               1: status 503"))
    var wrong = report()
    wrong.violations = 2
    wrong.firstViolations = ["1.000 s: peer 3 received padding"]
    #expect(!wrong.isGood && wrong.table.contains("peer 3 received padding"))
    #expect(wrong.json.contains(#""ok":false"#))
  }

  @Test func `as one object, times stand beside counts`() {
    var report = report()
    report.times.joinSeconds = 1.5
    #expect(report.json.contains(#""joinSeconds":1.5"#) && report.json.contains(#""sent":500"#))
    #expect(report.json.contains(#""latency":{"#) && !report.json.contains("times"))
  }

  @Test func `of pictures it says so, and how soon the first whole one was there`() {
    var report = report()
    #expect(report.table.contains("packets sent") && !report.table.contains("first whole picture"))
    report.unit = "pictures"
    var first = LatencyHistogram()
    for milliseconds in [80, 120, 640] as [Int64] { first.add(nanoseconds: milliseconds * 1_000_000) }
    report.finishJoins(LatencyHistogram(), LatencyHistogram(), first)
    #expect(report.table.contains("pictures sent") && report.table.contains("first whole picture, ms"))
    #expect(report.table.contains("max 640.00") && report.json.contains(#""firstPicture":{"maximum":640"#))
  }

  @Test func `without samples there is no latency`() {
    #expect(report().table.contains("one-way latency, ms  none"))
  }

  @Test(arguments: [
    (0, 2, "0.00"), (0.005, 2, "0.01"), (1.999, 1, "2.0"), (-0.5, 1, "-0.5"), (-0.001, 2, "0.00"),
  ])
  func `decimals are rounded`(value: Double, places: Int, text: String) {
    #expect(Decimals.text(value, places) == text)
  }

  @Test(arguments: [("load-1", "load-1"), ("a b/ü", "a%20b%2F%C3%BC"), ("\u{1}%", "%01%25")])
  func `a room's name stands in a path`(name: String, encoded: String) {
    #expect(Percent.encode(name) == encoded)
  }
}
