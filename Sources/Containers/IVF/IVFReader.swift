/// Reads an IVF file as its bytes come.
///
/// How many frames the header counts says nothing: files that were not finished have no number there. A frame that the file's end
/// cuts doesn't come out.
public struct IVFReader: Sendable {
  public struct Frame: Equatable, Sendable {
    /// In the header's units.
    public var timestamp: UInt64
    public var bytes: [UInt8]
  }

  /// Bytes of a frame that are read.
  public static let largestFrame = 16 * 1_024 * 1_024

  /// Once enough has come.
  public private(set) var header: IVFHeader?
  private var queue = ByteQueue()

  public init() {}

  public mutating func append(_ bytes: some Collection<UInt8>) { queue.append(bytes) }

  /// - Returns: nil until more has come.
  public mutating func next() throws(ContainerError) -> Frame? {
    if header == nil {
      guard queue.count >= IVFHeader.size else { return nil }
      header = try IVFHeader(queue)
      _ = queue.take(IVFHeader.size)
    }
    guard queue.count >= 12 else { return nil }
    let size = Int(queue.littleEndian(UInt32.self, at: 0))
    guard size <= Self.largestFrame else {
      throw .tooLarge(what: "a frame", bytes: UInt64(size), limit: Self.largestFrame, offset: queue.offset)
    }
    guard queue.count >= 12 + size else { return nil }
    let timestamp = queue.littleEndian(UInt64.self, at: 4)
    _ = queue.take(12)
    return Frame(timestamp: timestamp, bytes: Array(queue.take(size)))
  }
}
