/// Writes an IVF file: its header, then each frame with its size and timestamp. What a crash leaves is a file that ends early.
public struct IVFWriter: Sendable {
  private var header: IVFHeader

  /// - Parameter change: gets the header.
  /// - Returns: nil of a codec that IVF has no letters for.
  public init?(_ header: IVFHeader, into change: inout FileChange) {
    guard let bytes = header.bytes else { return nil }
    self.header = header
    self.header.frames = 0
    change.appended += bytes
  }

  /// Adds a frame: a picture of VP8, a picture of VP9 with all its layers, a temporal unit of AV1.
  /// - Parameters:
  ///   - timestamp: in the header's units, not less than that of the frame before.
  ///   - frame: below 4 GiB.
  public mutating func add(_ frame: [UInt8], timestamp: UInt64, into change: inout FileChange) {
    change.appended.append(littleEndian: UInt32(frame.count))
    change.appended.append(littleEndian: timestamp)
    change.appended += frame
    header.frames &+= 1
  }

  /// How many frames there are is known.
  public func finish(into change: inout FileChange) {
    var count: [UInt8] = []
    count.append(littleEndian: header.frames)
    change.patches.append(FilePatch(offset: IVFHeader.framesOffset, bytes: count))
  }
}
