import Testing

@testable import Load

@Suite("What roost-load prints of calls", .timeLimit(.minutes(2)))
struct CallReportTests {
  private func report() -> CallReport {
    var report = CallReport()
    (report.calls, report.started, report.connected, report.ended) = (20, 20, 20, 20)
    report.outcomes = ["answered": 20]
    return report
  }

  /// What a row of the table says.
  private func cell(_ name: String, _ report: CallReport) -> String? {
    let row = report.table.split(separator: "\n").first { $0.hasPrefix(name + "  ") }
    return row.map { String($0.dropFirst(name.count).drop { $0 == " " }) }
  }

  @Test func `a run is good when every call was started, connected and is over`() {
    #expect(report().isGood && report().json.contains(#""ok":true"#))
    for spoil: (inout CallReport) -> Void in [
      { $0.started = 19 }, { $0.connected = 19 }, { $0.ended = 19 },
      { $0.failures = ["start: status 500": 1] },
      { $0.wrong.stuck = 1 }, { $0.wrong.histories = 1 }, { $0.wrong.lost = 1 }, { $0.wrong.events = 1 },
      { $0.wrong.violations = 1 },
    ] {
      var bad = report()
      spoil(&bad)
      #expect(!bad.isGood && bad.json.contains(#""ok":false"#), "\(bad)")
    }
  }

  @Test func `with restarts a call may not have been connected, and is over all the same`() {
    var report = report()
    report.survivesRestarts = true
    report.connected = 18
    report.outcomes = ["answered": 18, "failed": 2]
    #expect(report.isGood && cell("ended", report) == "20 (18 answered, 2 failed)")
    report.ended = 19
    #expect(!report.isGood)
  }

  @Test func `what failed and what is wrong is said in words`() {
    var report = report()
    report.failures = ["start: status 500": 2]
    report.wrong.stuck = 3
    report.firstProblems = ["call c: it isn't over"]
    #expect(cell("failed", report) == "2: start: status 500")
    #expect(cell("stuck", report) == "3")
    #expect(cell("WRONG", report) == "call c: it isn't over")
  }

  @Test func `times stand as half of all and all but one in a hundred`() {
    var histogram = LatencyHistogram()
    for milliseconds in 1...100 { histogram.add(nanoseconds: Int64(milliseconds) * 1_000_000) }
    var report = report()
    report.times.startToRing = LoadReport.Latency(histogram)
    #expect(cell("start to ring, ms", report)?.hasPrefix("p50 5") == true)
    #expect(cell("answer to sound, ms", report) == "none")
    #expect(report.json.contains(#""startToRing":{"maximum":100"#))
  }
}
