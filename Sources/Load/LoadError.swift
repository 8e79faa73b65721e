/// Why there is no load.
public struct LoadError: Error, CustomStringConvertible {
  public let description: String
  init(_ description: String) { self.description = description }
}
