internal import Model

/// How much the store has of events behind the position before which every receiver has all, in pieces: a value.
///
/// A piece is what is given up at once: few rows and bytes, of a short time.
struct HeldEvents: Sendable {
  struct Row: Sendable {
    var position: UInt64
    var bytes: Int
    var time: WallTime
  }

  /// Rows up to a position, from behind the piece before.
  struct Piece: Equatable, Sendable {
    var last: UInt64
    var rows: Int
    var bytes: Int
    var oldest: WallTime
    var newest: WallTime
  }

  /// Of a piece, in time.
  static let span = Duration.seconds(60)

  /// Of a piece, but for its last row.
  private let pieceBytes: Int

  /// All up to it is settled.
  private(set) var start: UInt64
  private(set) var pieces: [Piece] = []
  /// Of the rows, with what each costs beside its body.
  private(set) var bytes = 0
  /// The piece that is looked at next.
  private var turn = 0

  init(after start: UInt64, pieceBytes: Int = 1_048_576) {
    self.start = start
    self.pieceBytes = pieceBytes
  }

  /// What is measured goes up to here.
  var end: UInt64 { pieces.last?.last ?? start }
  var rows: Int { pieces.reduce(0) { $0 + $1.rows } }
  /// Where the events are that are given up first.
  var first: (after: UInt64, piece: Piece)? { pieces.first.map { (start, $0) } }

  /// Bytes of a row beside its body, in the table and its indexes.
  private static let rowBytes = 96

  private static func size(rows: Int, bytes: Int) -> Int { bytes + rows * rowBytes }

  /// All up to that position is settled, or given up.
  mutating func drop(upTo position: UInt64) {
    guard position > start else { return }
    start = position
    let count = pieces.firstIndex { $0.last > position } ?? pieces.count
    for piece in pieces[..<count] { bytes -= Self.size(rows: piece.rows, bytes: piece.bytes) }
    pieces.removeFirst(count)
    turn = max(0, turn - count)
  }

  /// The rows that follow the last piece.
  /// - Parameter now: a time that is to come is taken for it.
  mutating func append(_ rows: [Row], now: WallTime) {
    for row in rows where row.position > end {
      let time = min(row.time, now)
      bytes += Self.size(rows: 1, bytes: row.bytes)
      if let last = pieces.indices.last, pieces[last].rows < DeliveryRows.heldRows,
        pieces[last].bytes < pieceBytes, time < pieces[last].oldest.advanced(by: Self.span)
      {
        pieces[last].last = row.position
        pieces[last].rows += 1
        pieces[last].bytes += row.bytes
        pieces[last].newest = max(pieces[last].newest, time)
      } else {
        pieces.append(Piece(last: row.position, rows: 1, bytes: row.bytes, oldest: time, newest: time))
      }
    }
  }

  /// The next piece in turn, of those that begin before a position.
  mutating func next(before position: UInt64) -> (after: UInt64, last: UInt64)? {
    if turn >= pieces.count || place(before: turn) >= position { turn = 0 }
    guard turn < pieces.count, place(before: turn) < position else { return nil }
    defer { turn += 1 }
    return (place(before: turn), pieces[turn].last)
  }

  private func place(before index: Int) -> UInt64 { index > 0 ? pieces[index - 1].last : start }

  /// What is left of a piece.
  /// - Returns: whether something has gone.
  mutating func measured(upTo last: UInt64, rows: Int, bytes: Int) -> Bool {
    guard let index = pieces.firstIndex(where: { $0.last == last }) else { return false }
    let before = pieces[index].rows
    self.bytes -= Self.size(rows: pieces[index].rows, bytes: pieces[index].bytes)
    if rows == 0 {
      pieces.remove(at: index)
      if turn > index { turn -= 1 }
    } else {
      (pieces[index].rows, pieces[index].bytes) = (rows, bytes)
      self.bytes += Self.size(rows: rows, bytes: bytes)
    }
    return rows < before
  }
}
