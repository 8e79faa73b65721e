import Testing

@testable import Load

@Suite("Numbers with a fixed count of decimals", .timeLimit(.minutes(1)))
struct DecimalsTests {
  @Test(
    arguments: [
      (0, 0, "0"), (0.4, 0, "0"), (200, 0, "200"), (-1.5, 0, "-2"), (-0.4, 0, "0"), (1, 3, "1.000"),
      (0.0004, 3, "0.000"),
      (-0.0506, 2, "-0.05"), (12.995, 1, "13.0"), (999_999_999_999.9, 1, "999999999999.9"),
      (1e12, 2, "1000000000000.0"),
    ] as [(Double, Int, String)])
  func `a value is rounded, and has as many decimals as are wanted`(value: Double, places: Int, text: String)
  {
    #expect(Decimals.text(value, places) == text)
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity], [0, 2])
  func `what is no number is said as it is`(value: Double, places: Int) {
    #expect(Decimals.text(value, places) == "\(value)")
  }
}
