import Testing

@testable import Load

@Suite("Calls on the command line of roost-load", .timeLimit(.minutes(2)))
struct CallOptionsTests {
  private func options(_ line: String) throws -> LoadOptions {
    try LoadOptions(line.split(separator: " ").map(String.init))
  }

  @Test func `every option of calls is taken`() throws {
    let options = try options(
      "--url https://roost.example --key k --secret s --insecure --media 192.0.2.1:7882 --identity i --join-timeout 7 "
        + "--calls 500 --rate 50 --talk 8 --restarts --json --quiet")
    var plan = CallPlan(count: 500)
    (plan.rate, plan.talk, plan.survivesRestarts) = (50, 8, true)
    #expect(options.calls == plan)
    #expect(
      options.names.identity == "i" && options.joining.timeout == 7 && options.media == "192.0.2.1:7882")
  }

  @Test func `calls are of sound, ten a second, and nothing is killed`() throws {
    let options = try options("--calls 3")
    #expect(options.calls == CallPlan(count: 3))
    #expect(options.calls?.rate == 10 && options.calls?.talk == 5 && options.calls?.survivesRestarts == false)
    #expect(options.hasAudio && !options.picture.isSent && options.joining.timeout == 30)
    #expect(try self.options("--rooms 2").calls == nil)
  }

  @Test(arguments: [
    ("--calls", "--calls needs a value"), ("--calls 0", "from 1 to 100000"),
    ("--calls 5 --rate 0", "from 1 to 1000"),
    ("--calls 5 --talk x", "from 1 to 600"), ("--rate 5", "go with --calls"), ("--talk 5", "go with --calls"),
    ("--restarts", "go with --calls"), ("--calls 5 --rooms 2", "--rooms is of rooms"),
    ("--mesh --calls 5", "--mesh is of rooms"), ("--calls 5 --audio", "--audio is of rooms"),
    ("--calls 5 --ramp rooms:1", "--ramp is of rooms"), ("--calls 5 --real", "--real is of rooms"),
    ("--calls 5 --nonsense", "unknown option --nonsense"),
  ])
  func `what doesn't go with calls is named in the error`(line: String, word: String) {
    let error = #expect(throws: LoadUsageError.self) { try options(line) }
    #expect(error?.description.contains(word) == true, "\(String(describing: error))")
  }

  /// What is new on the command line has to choose a side.
  @Test func `every option that help names goes with rooms or with calls`() throws {
    let words = Set(
      LoadOptions.help.split(whereSeparator: { " \n".contains($0) }).filter {
        $0.hasPrefix("--") && !$0.hasSuffix(":")
      }
      .map { String($0).trimmingSuffix(of: ",.") })
    for word in words where !["--help", "--dev"].contains(word) {
      var calls = CallWords()
      calls.note(word)
      var options = LoadOptions()
      try calls.take("--calls", "1")
      let isShared = (try? calls.apply(to: &options)) != nil
      let own: Set = [
        "--calls", "--rate", "--talk", "--restarts", "--url", "--key", "--secret", "--insecure", "--media",
        "--identity", "--join-timeout", "--json", "--quiet", "--lan",
      ]
      #expect(isShared == own.subtracting(["--lan"]).contains(word), "\(word)")
    }
  }
}

extension String {
  fileprivate func trimmingSuffix(of characters: String) -> String {
    var text = self
    while let last = text.last, characters.contains(last) { text.removeLast() }
    return text
  }
}
