internal import AccessTokens

/// One request, and its answer.
struct SingleTask: OperatorTask {
  /// What the answer is of.
  enum View: Equatable {
    case room
    /// One that was to be made.
    case newRoom
    case participant
    /// There is no answer but that it is done: what was done, in words and as JSON.
    case done(String, StrictJSON)
  }

  private(set) var ask: Ask?
  private let view: View
  private let style: Style
  private var output = Output()

  init(_ ask: Ask, _ view: View, style: Style) {
    self.ask = ask
    self.view = view
    self.style = style
  }

  mutating func take(_ answer: OperatorAnswer) throws(OperatorError) {
    ask = nil
    if case .done(let words, let json) = view {
      if style.json { output.print(json) } else { output.text = TerminalText.shown(words) + "\n" }
      return
    }
    guard let json = answer.json, json.object != nil else {
      throw .notRoost(status: answer.status, type: nil)
    }
    if view == .newRoom, answer.status == 200 {
      output.notes.append("the room exists already, and stays as it is")
    }
    if style.json {
      output.print(json)
    } else {
      output.text =
        view == .participant
        ? ParticipantView.text(json, width: style.width) : RoomView.description(json).text(width: style.width)
    }
  }

  mutating func takeOutput() -> Output { output.take() }
}
