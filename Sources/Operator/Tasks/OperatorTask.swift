internal import AccessTokens

/// One command as a machine: what is asked next, and the text that the answers make. It has no socket and no clock.
protocol OperatorTask {
  /// The next request; nil: everything is done.
  var ask: Ask? { get }
  mutating func take(_ answer: OperatorAnswer) throws(OperatorError)
  /// What there is to print by now; it is printed once.
  mutating func takeOutput() -> Output
}

/// What a command prints.
struct Output: Equatable {
  /// The answer.
  var text = ""
  /// Remarks about it, which stand apart from it.
  var notes: [String] = []

  mutating func take() -> Output {
    defer { self = Output() }
    return self
  }

  /// One JSON value on a line.
  mutating func print(_ json: StrictJSON) { text += json.line }
}

/// How answers are shown.
struct Style: Equatable {
  var json = false
  /// Columns of the terminal; nil: nothing is shortened.
  var width: Int? = 80
}
