/// Why bytes are no file that is read here. Offsets are bytes from the file's first.
public enum ContainerError: Error, Equatable, Sendable {
  /// It doesn't begin as files of that kind do.
  case notThis(format: String, offset: Int)
  /// A field has a value that files of that kind don't have, or that isn't read here.
  case invalid(field: String, offset: Int)
  /// An element, a page or a frame is larger than what is taken.
  case tooLarge(what: String, bytes: UInt64, limit: Int, offset: Int)
  /// A page's check sum differs from the one that it has.
  case damaged(offset: Int)
  /// The file has no track of a codec that is known here.
  case noTrack(offset: Int)
}

extension ContainerError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notThis(let format, let offset): "this is no \(format) at byte \(offset)"
    case .invalid(let field, let offset): "\(field) at byte \(offset) has a value that can't be read"
    case .tooLarge(let what, let bytes, let limit, let offset):
      "\(what) at byte \(offset) has \(bytes) bytes; at most \(limit) are read"
    case .damaged(let offset): "the page at byte \(offset) is damaged: its check sum is another"
    case .noTrack: "the file has no track of VP8, VP9, AV1, H.264, H.265, Opus, PCMU, PCMA or G.722"
    }
  }
}
