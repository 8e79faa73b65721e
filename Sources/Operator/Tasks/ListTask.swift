internal import AccessTokens

#if PLANTED_DEFECTS
  internal import Model
#endif

/// A list, page by page, as far as is wanted of it.
struct ListTask: OperatorTask {
  /// What is listed.
  enum Kind: Equatable {
    case rooms
    case participants(String)
  }

  private let kind: Kind
  private let style: Style
  private let limit: Int
  private var after: String?
  private var items: [StrictJSON] = []
  private var isDone = false
  private var output = Output()
  /// Items of one page: what has much metadata makes a page of many megabytes.
  static let pageSize = 100
  /// Unless another number is wanted.
  static let usualLimit = 1_000

  init(_ kind: Kind, limit: Int?, after: String?, style: Style) {
    self.kind = kind
    self.limit = limit ?? Self.usualLimit
    self.after = after
    self.style = style
  }

  var ask: Ask? {
    guard !isDone else { return nil }
    let ask: Ask =
      switch kind {
      case .rooms: Ask(["rooms"], right: .list)
      case .participants(let room): Ask(["rooms", room, "participants"], right: .administer(room))
      }
    return ask.with("limit", String(min(Self.pageSize, limit - items.count))).with("after", after)
  }

  mutating func take(_ answer: OperatorAnswer) throws(OperatorError) {
    guard let found = answer.json?["items"]?.array else {
      throw .notRoost(status: answer.status, type: nil)
    }
    items += found.prefix(limit - items.count)
    after = answer.json?["next"]?.string
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.firstPageAlone) {
        isDone = true
        return show()
      }
    #endif
    // A page of nothing that has a next one would be asked for without end.
    guard after == nil || items.count >= limit || found.isEmpty else { return }
    isDone = true
    show()
  }

  private mutating func show() {
    if style.json {
      var list: [String: StrictJSON] = ["items": .array(items)]
      if let after { list["next"] = .string(after) }
      output.print(.object(list))
      return
    }
    switch kind {
    case .rooms:
      output.text = items.isEmpty ? "no rooms\n" : RoomView.table(items).text(width: style.width)
    case .participants:
      output.text =
        items.isEmpty ? "no participants\n" : ParticipantView.table(items).text(width: style.width)
    }
    if let after { output.notes.append("there are more: raise --limit, or go on with --after \(after)") }
  }

  mutating func takeOutput() -> Output { output.take() }
}
