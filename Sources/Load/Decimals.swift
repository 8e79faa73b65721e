/// Numbers as text, with a fixed count of decimals.
enum Decimals {
  static func text(_ value: Double, _ places: Int) -> String {
    let scale = (0..<places).reduce(1.0) { product, _ in product * 10 }
    guard value.isFinite, abs(value) < 1e12 else { return "\(value)" }
    let units = Int64((abs(value) * scale).rounded())
    let (whole, rest) = units.quotientAndRemainder(dividingBy: Int64(scale))
    let digits = String(rest)
    let sign = value < 0 && units > 0 ? "-" : ""
    guard places > 0 else { return "\(sign)\(whole)" }
    return "\(sign)\(whole)." + String(repeating: "0", count: places - digits.count) + digits
  }
}
