/// The elements in an element that has come whole, one behind the other.
///
/// What is cut or has an id that is none ends the walk: of a bounded piece nothing more is wanted.
struct EBMLElements: Sequence, IteratorProtocol {
  private var rest: ArraySlice<UInt8>

  init(_ content: ArraySlice<UInt8>) { rest = content }

  mutating func next() -> (id: UInt32, content: ArraySlice<UInt8>)? {
    guard let first = rest.first, first > 0x0F else { return nil }
    let width = first.leadingZeroBitCount + 1
    guard rest.count >= width, let (size, sizeWidth) = EBML.number(rest.dropFirst(width)) else { return nil }
    let id = rest.prefix(width).reduce(0) { $0 << 8 | UInt32($1) }
    let content = rest.dropFirst(width + sizeWidth)
    // The last child of a whole element can't be longer than it.
    guard let size, size <= UInt64(content.count) else { return nil }
    rest = content.dropFirst(Int(size))
    return (id, content.prefix(Int(size)))
  }

  /// The first of its kind.
  static func first(_ id: MatroskaID, in content: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    EBMLElements(content).first { $0.id == id.rawValue }?.content
  }

  static func unsigned(_ id: MatroskaID, in content: ArraySlice<UInt8>) -> UInt64? {
    first(id, in: content).flatMap(unsigned)
  }

  static func unsigned(_ content: ArraySlice<UInt8>) -> UInt64? {
    content.count <= 8 ? content.reduce(0) { $0 << 8 | UInt64($1) } : nil
  }

  static func text(_ id: MatroskaID, in content: ArraySlice<UInt8>) -> String? {
    first(id, in: content).map { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
