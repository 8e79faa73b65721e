/// The nearest of the words that exist to one that doesn't.
enum Suggestion {
  /// - Returns: nil where nothing is near enough to be meant.
  static func nearest(to word: String, among candidates: [String]) -> String? {
    let best = candidates.map { (candidate: $0, distance: distance(word.lowercased(), $0.lowercased())) }
      .min { ($0.distance, $0.candidate) < ($1.distance, $1.candidate) }
    guard let best, best.distance <= max(2, word.count / 3) else { return nil }
    return best.candidate
  }

  /// What is put behind a message that refuses the word; empty where nothing is near enough.
  static func hint(to word: String, among candidates: [String]) -> String {
    nearest(to: word, among: candidates).map { "; did you mean \($0)?" } ?? ""
  }

  /// Edits, swaps of neighbours included, from one to the other (Damerau 1964).
  static func distance(_ a: String, _ b: String) -> Int {
    let (a, b) = (Array(a.utf8.prefix(64)), Array(b.utf8.prefix(64)))
    var rows = [[Int]](repeating: [Int](repeating: 0, count: b.count + 1), count: a.count + 1)
    for i in 0...a.count { rows[i][0] = i }
    for j in 0...b.count { rows[0][j] = j }
    guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
    for i in 1...a.count {
      for j in 1...b.count {
        let same = a[i - 1] == b[j - 1]
        rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (same ? 0 : 1))
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
          rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
        }
      }
    }
    return rows[a.count][b.count]
  }
}
