/// A change by a merge patch (RFC 7396): what isn't named stays.
public enum Change<Value: Equatable & Sendable>: Equatable, Sendable {
  case keep
  /// Back to what holds where nothing was said.
  case remove
  case set(Value)

  func apply(to value: inout Value?) {
    switch self {
    case .keep: break
    case .remove: value = nil
    case .set(let new): value = new
    }
  }

  func apply(to value: inout Value, default: Value) {
    switch self {
    case .keep: break
    case .remove: value = `default`
    case .set(let new): value = new
    }
  }
}
