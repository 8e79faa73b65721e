#if PLANTED_DEFECTS
  internal import Model
#endif

/// Header fields in the order in which they came; names are lower-case.
public struct HTTPHeaders: Equatable, Sendable {
  public private(set) var fields: [(name: String, value: String)] = []

  public init() {}

  /// The first value of that name.
  public subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  /// Every value of that name.
  public func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

  /// - Parameters:
  ///   - name: a token (RFC 9110 §5.6.2); written in lower case.
  ///   - value: control characters in it are dropped, so that no value can start another field.
  public mutating func add(_ name: String, _ value: String) {
    let kept = value.unicodeScalars.filter { $0.value >= 32 && $0.value != 127 }
    fields.append((name.lowercased(), String(String.UnicodeScalarView(kept))))
  }

  /// The members of a comma-separated list, over all fields of that name, with the letters of ASCII in lower case.
  public func list(_ name: String) -> [String] {
    all(name).flatMap { $0.split(separator: ",") }.map { $0.trimmingSpaces().asciiLowercased }
  }

  public static func == (a: Self, b: Self) -> Bool {
    a.fields.count == b.fields.count && zip(a.fields, b.fields).allSatisfy { $0 == $1 }
  }
}

extension StringProtocol {
  /// Words of HTTP are the same in either case of ASCII's letters (RFC 9110 §5.6.2). Unicode has others whose lower case is one of
  /// these, such as the sign of kelvin.
  var asciiLowercased: String {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.anyLetters) { return lowercased() }
    #endif
    return String(decoding: utf8.map { (65...90).contains($0) ? $0 | 32 : $0 }, as: UTF8.self)
  }

  /// Without the spaces and tabs at both ends (RFC 9110 §5.6.3).
  func trimmingSpaces() -> String {
    let space = { (byte: UInt8) in byte == 32 || byte == 9 }
    let text = String(self)
    guard let first = text.utf8.firstIndex(where: { !space($0) }),
      let last = text.utf8.lastIndex(where: { !space($0) })
    else { return "" }
    // By bytes: some characters take in the space behind them (UAX #29, GB9b).
    return String(Substring(text.utf8[first...last]))
  }
}
