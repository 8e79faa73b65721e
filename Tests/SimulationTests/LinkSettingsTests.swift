import Simulation
import Testing

@Suite("A link's settings as words", .timeLimit(.minutes(1)))
struct LinkSettingsTests {
  @Test func `what is named changes, all else stays`() throws {
    var conditions = LinkConditions(delay: 7_000_000, jitter: 2_000_000, loss: 0.5)
    try conditions.apply("rate=300000  queue=11250 loss=0.05")
    #expect(conditions.rate == 300_000 && conditions.queue == 11_250 && conditions.loss == 0.05)
    #expect(conditions.delay == 7_000_000 && conditions.jitter == 2_000_000)
    try conditions.apply("delay=1.5 jitter=0 duplication=0.1 reordering=0.2 span=30")
    #expect(
      conditions.delay == 1_500_000 && conditions.jitter == 0 && conditions.reorderingSpan == 30_000_000)
    #expect(conditions.duplication == 0.1 && conditions.reordering == 0.2)
    try conditions.apply("")
    #expect(conditions.rate == 300_000)
  }

  @Test func `conditions make the words that make them`() throws {
    var first = LinkConditions()
    try first.apply(
      "rate=1500000 queue=9000 delay=40 jitter=3.5 loss=0.1 duplication=0.2 reordering=0.3 span=8")
    var second = LinkConditions()
    try second.apply(first.words)
    #expect(first.words == second.words)
  }

  @Test(arguments: [
    ("rate", LinkSettingError.shape("rate")),
    ("rate=", .value("rate=")),
    ("rate=-1", .value("rate=-1")),
    ("rate=nan", .value("rate=nan")),
    ("rate=inf", .value("rate=inf")),
    ("rate=1e300", .value("rate=1e300")),
    ("loss=1", .value("loss=1")),
    ("loss=5%", .value("loss=5%")),
    ("queue=0", .value("queue=0")),
    ("delay=-5", .value("delay=-5")),
    ("delay=10001", .value("delay=10001")),
    ("speed=3", .name("speed")),
    ("=3", .name("")),
  ])
  func `a word that can't be is named, and nothing before it is taken over`(
    words: String, wanted: LinkSettingError
  ) {
    var conditions = LinkConditions()
    #expect(throws: wanted) { try conditions.apply("loss=0.25 " + words) }
    #expect(conditions.loss == 0)
  }

  @Test func `a line is a direction's settings, or asks for counts`() {
    guard case .change(.down, "rate=1 loss=0") = LinkCommand("down rate=1 loss=0") else {
      Issue.record("no change")
      return
    }
    guard case .change(.up, "") = LinkCommand("up") else {
      Issue.record("no question")
      return
    }
    guard case .counts = LinkCommand("counts"), case .nothing = LinkCommand("  ") else {
      Issue.record("neither counts nor nothing")
      return
    }
    for line in ["sideways rate=1", "counts now", "downrate=1"] {
      if LinkCommand(line[...]) != nil { Issue.record("\(line) is a command") }
    }
  }
}
