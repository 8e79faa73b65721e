import SyntheticPeers
import Testing

@testable import Simulation

/// Viewers on narrow paths, in conferences that once went wrong.
@Suite("Narrow paths", .timeLimit(.minutes(3)))
struct NarrowPathTests {
  /// A publisher that is asked for a smaller encoding has none for a while, and the larger one goes on until then.
  @Test func `what a viewer is shown until a smaller picture is there counts among what its path carries`()
    throws
  {
    let outcome = try Conference(
      seed: 179_583_828_200_097, options: Conference.Options.repeatable.onNarrowPaths
    ).run()
    #expect(outcome.violations == [])
    #expect(outcome.mechanisms[.budgetJudged] > 100 && outcome.mechanisms[.viewChanged] > 0)
  }
}
