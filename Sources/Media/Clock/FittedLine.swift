/// The straight line of least squares through a few points.
struct FittedLine {
  static let limit = 8

  private var points: InlineArray<8, (x: Double, y: Double)> = InlineArray(repeating: (0, 0))
  private(set) var count = 0

  /// What is beyond `limit` is left out.
  mutating func add(_ x: Double, _ y: Double) {
    guard count < Self.limit else { return }
    points[count] = (x, y)
    count &+= 1
  }

  /// From the first point to the last.
  var span: Double { count > 0 ? (points[count &- 1].x - points[0].x).magnitude : 0 }

  /// - Returns: the points' middle, through which the line goes, and how far they lie beside it (a standard deviation;
  ///   0 of two).
  func fit() -> (slope: Double, x: Double, y: Double, deviation: Double) {
    guard count > 0 else { return (0, 0, 0, 0) }
    var middle = (x: 0.0, y: 0.0)
    for index in 0..<count {
      middle.x += points[index].x / Double(count)
      middle.y += points[index].y / Double(count)
    }
    var (products, squares, rest) = (0.0, 0.0, 0.0)
    for index in 0..<count {
      let (x, y) = (points[index].x - middle.x, points[index].y - middle.y)
      products += x * y
      squares += x * x
      rest += y * y
    }
    guard squares > 0 else { return (0, middle.x, middle.y, 0) }
    let slope = products / squares
    let deviation = count > 2 ? (max(0, rest - slope * products) / Double(count - 2)).squareRoot() : 0
    return (slope, middle.x, middle.y, deviation)
  }
}
