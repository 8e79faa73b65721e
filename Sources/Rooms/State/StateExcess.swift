/// Why a participant may not have the metadata and attributes that it or an administrator asks for.
public enum StateExcess: Error, Equatable, Sendable {
  /// `metadata` or `attributes` is longer than it may be by itself.
  case part(String)
  /// Both have so many bytes in JSON, and no participant of the room may have more than so many.
  case whole(bytes: Int, limit: Int)
  /// Both have so many bytes in JSON, and the others leave it so many; who leaves, or takes back what it had, leaves more.
  case crowded(bytes: Int, limit: Int)

  /// It may be possible later.
  public var mayPass: Bool { if case .crowded = self { true } else { false } }

  public var description: String {
    switch self {
    case .part(let part): "\(part) is too large"
    case .whole(let bytes, let limit):
      "metadata and attributes have \(bytes) bytes in JSON, of which a participant may have \(limit) in this room"
    case .crowded(let bytes, let limit):
      "metadata and attributes have \(bytes) bytes in JSON, of which this participant may have \(limit) in this room now"
    }
  }
}
