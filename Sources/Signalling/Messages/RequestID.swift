#if PLANTED_DEFECTS
  internal import Model
#endif

/// What names a request, so that its answer can name it too: a JSON number or string, as its bytes. It is compared and
/// echoed byte for byte: `1` and `1.0` name two requests.
public struct RequestID: Hashable, Sendable {
  /// Of its text, a string's quotes apart.
  static let maximumBytes = 64
  static let expected = "a number or a string of 1 to \(maximumBytes) bytes"

  /// The value as the client wrote it, with a string's quotes.
  public let json: String

  /// - Parameter value: one sound JSON value.
  /// - Returns: nil for what is neither number nor string, empty or too long.
  init?(_ value: JSONValue) {
    #if PLANTED_DEFECTS
      let size =
        value.isString && !PlantedDefect.isOn(.idWithQuotes) ? value.bytes.count - 2 : value.bytes.count
    #else
      let size = value.isString ? value.bytes.count - 2 : value.bytes.count
    #endif
    guard value.isNumber || value.isString, (1...Self.maximumBytes).contains(size) else { return nil }
    json = String(decoding: value.bytes, as: UTF8.self)
  }

  public init(_ number: Int) { json = String(number) }

  /// nil: it is no whole number.
  public var number: Int? { Int(json) }

  // Strings are the same in Swift where they look the same, whatever their bytes.
  public static func == (one: RequestID, other: RequestID) -> Bool {
    one.json.utf8.elementsEqual(other.json.utf8)
  }

  public func hash(into hasher: inout Hasher) { for byte in json.utf8 { hasher.combine(byte) } }
}
