import Model
import Testing

@Suite("Wall time as text", .timeLimit(.minutes(2)))
struct WallTimeTests {
  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
      (1_795_223_010_125, "2026-11-21T01:03:30.125Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
      (4_107_542_399_999, "2100-02-28T23:59:59.999Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
      (1_735_689_599_000, "2024-12-31T23:59:59.000Z"),
    ] as [(Int64, String)])
  func `milliseconds become a date`(milliseconds: Int64, text: String) {
    #expect(WallTime(milliseconds: milliseconds).text == text)
  }

  @Test func `it is the same moment as the reports' time`() {
    let ntp = NTPTime(unixNanoseconds: 1_795_223_010_125_999_999)
    #expect(WallTime(ntp) == WallTime(milliseconds: 1_795_223_010_125))
    #expect(WallTime(milliseconds: 1) < WallTime(milliseconds: 2))
  }
}
