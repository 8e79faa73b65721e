internal import Glibc
internal import Model

/// How much is said.
public enum LogLevel: Int, Sendable, CaseIterable, Comparable {
  case error = 0
  case warning = 1
  case info = 2
  case debug = 3

  public var name: String { ["error", "warning", "info", "debug"][rawValue] }
  public init?(name: String) {
    guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = level
  }
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// The operator's log: one line an event, `time level message key=value …`, on standard error.
///
/// Tokens, keys, payloads, query strings and Authorization are never given to it. Control characters in values
/// are escaped, so that no participant can write lines of their own.
public struct Log: Sendable {
  public let level: LogLevel
  private let write: @Sendable (String) -> Void

  /// - Parameter write: gets each finished line, without its end; standard error where not given.
  public init(level: LogLevel, write: (@Sendable (String) -> Void)? = nil) {
    self.level = level
    self.write = write ?? Self.writeToStandardError
  }

  public func error(_ message: String, _ fields: KeyValuePairs<String, String> = [:]) {
    log(.error, message, fields)
  }
  public func warning(_ message: String, _ fields: KeyValuePairs<String, String> = [:]) {
    log(.warning, message, fields)
  }
  public func info(_ message: String, _ fields: KeyValuePairs<String, String> = [:]) {
    log(.info, message, fields)
  }
  public func debug(_ message: String, _ fields: KeyValuePairs<String, String> = [:]) {
    log(.debug, message, fields)
  }

  private func log(_ level: LogLevel, _ message: String, _ fields: KeyValuePairs<String, String>) {
    guard level <= self.level else { return }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.logLevel), level == self.level { return }
    #endif
    var line = "\(Self.timestamp()) \(level.name) \(message)"
    for (key, value) in fields { line += " \(key)=\(Self.quote(value))" }
    write(line)
  }

  private static func writeToStandardError(_ line: String) {
    var line = line + "\n"
    // One call a line, so that lines of several threads don't mix.
    line.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }

  private static func timestamp() -> String {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return WallTime(milliseconds: Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000).text
  }

  /// Bare where that is unambiguous, else in quotes with escapes.
  static func quote(_ value: String) -> String {
    let isPlain =
      !value.isEmpty
      && value.unicodeScalars.allSatisfy {
        !isInvisible($0) && !$0.properties.isWhitespace && $0 != "\"" && $0 != "=" && $0 != "\\"
      }
    if isPlain { return value }
    var quoted = "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case _ where isInvisible(scalar): quoted += "\\u{\(String(scalar.value, radix: 16))}"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  /// What ends a line, turns the direction of writing, or hides.
  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.logSeparator), scalar.properties.generalCategory == .lineSeparator {
        return false
      }
    #endif
    return switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse: true
    default: false
    }
  }
}
