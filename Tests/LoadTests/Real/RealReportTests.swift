import Testing

@testable import Load

@Suite("What roost-load --real prints", .timeLimit(.minutes(1)))
struct RealReportTests {
  private func report() -> LoadReport {
    var report = LoadReport()
    (report.participants, report.joined) = (3, 3)
    var real = RealReport()
    real.sent = 100
    (real.pictures.expected, real.pictures.verified) = (200, 199)
    (real.tones.expected, real.tones.right) = (400, 399)
    for number in 1...2 {
      var subscriber = RealReport.Subscriber()
      subscriber.participant = number
      (subscriber.pictures.expected, subscriber.pictures.verified) = (100, 98 + number)
      real.subscribers.append(subscriber)
    }
    report.real = real
    return report
  }

  @Test func `pictures and tones stand where packets stood, for all and for each`() {
    let table = report().table
    for line in [
      "pictures sent", "verified               199 (99.500 %)", "skipped                1",
      "tones right            399 of 400", "load-1                 99 of 100, 0 corrupt",
    ] { #expect(table.contains(line), "\(line) in\n\(table)") }
    #expect(!table.contains("packets sent") && !table.contains("one-way latency"))
    let json = report().json
    #expect(
      json.contains(#""share":0.995"#) && json.contains(#""skipped":1"#) && json.contains(#""ok":true"#))
    #expect(!json.contains("arrivedFirstTime") && !json.contains("never\""))
  }

  @Test func `one corrupt picture, one wrong tone, or a track that never came is a failure`() {
    #expect(report().isGood)
    for change in [
      { $0.pictures.corrupt = 1 }, { $0.tones.wrong = 1 }, { $0.neverRight = 1 },
      { $0.pictures.verified = 0 },
    ] as [(inout RealReport) -> Void] {
      var report = report()
      change(&report.real!)
      #expect(!report.isGood && report.json.contains(#""ok":false"#))
    }
  }

  @Test func `where no one receives, nothing has to come`() {
    var report = report()
    report.real = RealReport()
    report.real?.sent = 50
    #expect(report.isGood)
  }

  @Test func `of many subscribers those stand in the table that got the least`() {
    var report = report()
    report.real?.subscribers = (0..<30).map { number in
      var subscriber = RealReport.Subscriber()
      subscriber.participant = number
      (subscriber.pictures.expected, subscriber.pictures.verified) = (100, number == 29 ? 3 : 99)
      return subscriber
    }
    let table = report.table
    #expect(
      table.contains("load-29 ") && !table.contains("load-28 ") && table.contains("and 10 that got more"))
  }
}
