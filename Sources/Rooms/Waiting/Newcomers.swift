internal import Model

/// What a room's state has for those who aren't in yet.
struct Newcomers: Sendable {
  /// Sessions that wait to be let in, in the order in which they came: of each identity one.
  var waiting: [WaitingSession] = []
  /// That one comes to wait, of all who do: two a second, a hundred at once. The room's log keeps what else has happened.
  var pace = RateLimit(rate: 2, burst: 100)
  /// Messages for those who come later.
  var history = DataHistory()
}
