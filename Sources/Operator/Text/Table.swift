/// Rows under titles, in columns that fit the terminal.
package struct Table {
  package struct Column {
    /// Empty in all columns: there is no line of titles.
    var title: String
    var isRight: Bool
    /// Whether it may be shortened.
    var isFlexible: Bool

    package init(title: String, isRight: Bool = false, isFlexible: Bool = false) {
      self.title = title
      self.isRight = isRight
      self.isFlexible = isFlexible
    }
  }

  private let columns: [Column]
  private(set) var rows: [[String]] = []
  private static let gap = 2
  /// To which a column can be shortened.
  private static let least = 8

  package init(_ columns: [Column]) { self.columns = columns }

  /// - Parameter cells: as they came, one for each column.
  package mutating func add(_ cells: [String]) {
    precondition(cells.count == columns.count, "a row has a cell for each column")
    rows.append(cells.map(TerminalText.shown))
  }

  /// - Parameter width: nil: as wide as it is. A terminal that is too narrow for the other columns gets lines that are too long.
  package func text(width: Int?) -> String {
    let hasTitles = columns.contains { !$0.title.isEmpty }
    let lines = (hasTitles ? [columns.map(\.title)] : []) + rows
    var widths = columns.indices.map { column in
      lines.map { TerminalText.columns($0[column]) }.max() ?? 0
    }
    if let width { shrink(&widths, to: width) }
    return lines.map { line($0, widths) + "\n" }.joined()
  }

  /// Takes from the widest flexible column first.
  private func shrink(_ widths: inout [Int], to width: Int) {
    var excess = widths.reduce(0, +) + Self.gap * (widths.count - 1) - width
    while excess > 0 {
      let flexible = columns.indices.filter { columns[$0].isFlexible && widths[$0] > Self.least }
      guard let widest = flexible.max(by: { (widths[$0], $1) < (widths[$1], $0) }) else { return }
      widths[widest] -= 1
      excess -= 1
    }
  }

  private func line(_ cells: [String], _ widths: [Int]) -> String {
    let parts = columns.indices.map { column in
      TerminalText.padded(
        TerminalText.shortened(cells[column], to: widths[column]), to: widths[column],
        right: columns[column].isRight)
    }
    var line = parts.joined(separator: String(repeating: " ", count: Self.gap))
    while line.last == " " { line.removeLast() }
    return line
  }
}

extension Table {
  /// Names and what they are, below each other; nil is left out.
  static func of(_ pairs: [(name: String, value: String?)]) -> Table {
    var table = Table([Column(title: ""), Column(title: "", isFlexible: true)])
    for (name, value) in pairs { if let value { table.add([name, value]) } }
    return table
  }
}
