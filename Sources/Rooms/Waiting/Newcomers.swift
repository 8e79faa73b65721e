internal import Model

/// What a room's state has for those who aren't in yet.
struct Newcomers: Sendable {
  /// Sessions that wait to be let in, in the order in which they came: of each identity one.
  var waiting: [WaitingSession] = []
  /// That sessions come to wait, of all who do.
  var paces = WaitingPaces()
  /// Messages for those who come later.
  var history = DataHistory()
}
