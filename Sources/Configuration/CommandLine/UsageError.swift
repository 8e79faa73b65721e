/// A command line that isn't understood; the exit code is 2.
public struct UsageError: Error, Equatable, Sendable, CustomStringConvertible {
  public static let exitCode: Int32 = 2

  public var message: String
  public var command: String?

  public init(_ message: String, command: String? = nil) {
    self.message = message
    self.command = command
  }

  public var description: String {
    "roost: \(message)\nTry `roost\(command.map { " \($0)" } ?? "") --help`."
  }
}
