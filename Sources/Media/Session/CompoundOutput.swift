/// Compounds of RTCP that a session wants sent, in order and in plain text.
///
/// One block of memory, reused: the owner sends what is in it after each call, then calls `removeAll`. It grows with
/// what one call writes, which the number of sections bounds.
public struct CompoundOutput: ~Copyable {
  /// A compound stays below what every path takes in one piece.
  public static let compoundSize = 1_180

  private struct Entry {
    var offset: Int
    var size: Int
    var source: UInt32
  }

  private var memory: UnsafeMutableRawBufferPointer
  private var used = 0
  private var entries: [Entry] = []

  public init() { memory = .allocate(byteCount: 16 * Self.compoundSize, alignment: 16) }

  deinit { memory.deallocate() }

  public var isEmpty: Bool { entries.isEmpty }
  public var count: Int { entries.count }

  /// - Returns: valid until the next change of this value.
  public func bytes(_ index: Int) -> UnsafeRawBufferPointer {
    let entry = entries[index]
    return UnsafeRawBufferPointer(rebasing: memory[entry.offset..<entry.offset + entry.size])
  }

  /// The source that the compound begins with.
  public func source(_ index: Int) -> UInt32 { entries[index].source }

  public mutating func removeAll() {
    entries.removeAll(keepingCapacity: true)
    used = 0
  }

  /// Room for one compound, to be written and then committed; valid until the next call.
  mutating func reserve() -> UnsafeMutableRawBufferPointer {
    if memory.count - used < Self.compoundSize {
      let grown = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * memory.count, alignment: 16)
      grown.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<used]))
      memory.deallocate()
      memory = grown
    }
    return UnsafeMutableRawBufferPointer(rebasing: memory[used..<used + Self.compoundSize])
  }

  /// Finishes the compound whose room `reserve` gave last, if anything was written.
  mutating func commit(size: Int, source: UInt32) {
    guard size > 0 else { return }
    entries.append(Entry(offset: used, size: size, source: source))
    used += (size + 7) & ~7
  }
}
