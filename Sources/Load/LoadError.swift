internal import Glibc

/// Why there is no load.
public struct LoadError: Error, CustomStringConvertible {
  public let description: String
  init(_ description: String) { self.description = description }

  /// What the system refused, and why.
  static func system(_ call: String) -> LoadError {
    LoadError("\(call): \(String(cString: strerror(errno)))")
  }
}
