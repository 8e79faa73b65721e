internal import Storage

/// What one transaction takes away of what is old, or of a person who is erased: so many rows, and so many bytes.
///
/// What is deleted is overwritten, and all pages that a transaction changes are in SQLite's log before they are in its file: it takes as
/// much room on the disk as it deletes. In portions it takes little, the log is used again from its beginning between them, and the work of
/// others comes in between. So a full disk has the room that it takes to forget what is old.
struct Portion {
  /// Each row may change a page of its table and one of every index.
  static let mostRows = 128
  static let mostBytes: Int64 = 1_048_576

  private var rowsLeft: Int
  private var bytesLeft: Int64
  private var isUntouched = true
  /// There may be more than has gone.
  private(set) var isMore = false

  init(rows: Int = Portion.mostRows, bytes: Int64 = Portion.mostBytes) {
    rowsLeft = rows
    bytesLeft = bytes
  }

  /// How many rows are worth looking for.
  var limit: Int { rowsLeft }

  /// So many rows were found by `limit`: where there are as many as may be, others may follow.
  mutating func noteFound(_ count: Int) { if count >= limit { isMore = true } }

  /// Whether a row of so many bytes goes as well. The first one does, however large it is.
  mutating func takes(_ bytes: Int64) -> Bool {
    guard rowsLeft > 0, isUntouched || bytes <= bytesLeft else {
      isMore = true
      return false
    }
    isUntouched = false
    rowsLeft -= 1
    bytesLeft = max(0, bytesLeft - max(0, bytes))
    return true
  }

  /// Whether something of so many bytes is changed beside the rows that go: not where those have taken all.
  mutating func changes(_ bytes: Int64) -> Bool {
    guard bytesLeft > 0 else {
      isMore = true
      return false
    }
    bytesLeft = max(0, bytesLeft - max(0, bytes))
    return true
  }

  /// Of rows that were looked for by `limit` those that go, in their order.
  /// - Parameter size: the column that says how many bytes each has; nil: all are short.
  mutating func take(_ rows: [SQLRow], size column: Int? = nil) throws(StoreError) -> [SQLRow] {
    noteFound(rows.count)
    var taken: [SQLRow] = []
    for row in rows {
      var bytes: Int64 = 0
      if let column { bytes = try row.integer(column) }
      guard takes(bytes) else { break }
      taken.append(row)
    }
    return taken
  }
}
