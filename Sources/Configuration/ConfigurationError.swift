/// One thing that is wrong with the configuration, described so that it can be mended without a manual.
public struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
  public enum Source: Equatable, Sendable {
    /// - Parameter line: from 1; nil where it could not be found.
    case file(String, line: Int?)
    case environment(String)
    case commandLine(String)
    /// It was not given.
    case defaults
  }

  public enum Problem: Equatable, Sendable {
    /// - Parameter value: what it was given.
    case unknownOption(value: String, suggestion: String?)
    /// - Parameter value: as it was written; never a secret.
    case wrongValue(String)
    case repeated(firstLine: Int)
    case missing
    case shortSecret(bytes: Int)
    case unreadable(String)
    case notJSON5(String)
  }

  public var source: Source
  /// Dotted name; empty when the file as a whole is meant.
  public var option: String
  public var problem: Problem
  public var expected: String

  public init(source: Source, option: String, problem: Problem, expected: String = "") {
    self.source = source
    self.option = option
    self.problem = problem
    self.expected = expected
  }

  public var description: String {
    let place =
      switch source {
      case .file(let path, let line): "\(path)\(line.map { ":\($0)" } ?? ""): "
      case .environment(let name): "environment variable \(name): "
      case .commandLine(let flag): "\(flag): "
      case .defaults: ""
      }
    let name = option.isEmpty ? "" : "\(option.filter { !$0.isNewline }): "
    let problem =
      switch problem {
      case .unknownOption(let value, let suggestion):
        "no such option, given \(value)" + (suggestion.map { "; did you mean \($0)?" } ?? "")
      case .wrongValue(let value): "invalid value \(value)"
      case .repeated(let line): "already set in line \(line)"
      case .missing: "missing"
      case .shortSecret(let bytes): "its secret has only \(bytes) bytes"
      case .unreadable(let reason): "can't be read: \(reason)"
      case .notJSON5(let reason): "not valid JSON5: \(reason)"
      }
    return place + name + problem + (expected.isEmpty ? "" : "; expected: \(expected)")
  }
}
