/// Bytes that take the place of others in a file, which is as long as before.
public struct FilePatch: Equatable, Sendable {
  /// Of the first, from the file's first byte.
  public var offset: Int
  public var bytes: [UInt8]

  public init(offset: Int, bytes: [UInt8]) {
    self.offset = offset
    self.bytes = bytes
  }
}

/// What is to be done to a file, in this order: what comes at its end, then places that are known only now, also in what has just come.
public struct FileChange: Equatable, Sendable {
  public var appended: [UInt8] = []
  public var patches: [FilePatch] = []

  public init() {}

  public var isEmpty: Bool { patches.isEmpty && appended.isEmpty }
}
