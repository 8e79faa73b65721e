/// Why a text is no message; `field` is the first that is wrong.
public enum MessageError: Error, Equatable, Sendable {
  case notJSON
  case field(String, FieldProblem, id: RequestID?)

  /// What is wrong with a field.
  public enum FieldProblem: Equatable, Sendable {
    case missing
    /// More than so many bytes, or of a list items.
    case tooLong(Int)
    /// What it is instead.
    case expected(String)

    public func description(of field: String) -> String {
      switch self {
      case .missing: "\(field) is missing"
      case .tooLong(let bound): "\(field) is too long; it has at most \(bound)"
      case .expected(let what): "\(field) is not \(what)"
      }
    }
  }
}
