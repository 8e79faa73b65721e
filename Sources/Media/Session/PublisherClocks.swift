internal import Model

/// One clock per CNAME, in the order of their first section.
struct PublisherClocks {
  private(set) var names: [String] = []
  private var clocks: [PublisherClock] = []

  subscript(index: Int) -> PublisherClock {
    get { clocks[index] }
    set { clocks[index] = newValue }
  }

  /// The place of a name, with what `old` knows of it where it is new.
  /// Without a CNAME the tracks of a transport are taken for one person's.
  mutating func place(of name: String, old: PublisherClocks) -> Int {
    if let known = names.firstIndex(of: name) { return known }
    names.append(name)
    clocks.append(old.names.firstIndex(of: name).map { old.clocks[$0] } ?? PublisherClock())
    return clocks.count - 1
  }

  init() {}

  func encode(into writer: inout StateWriter) {
    writer.write(UInt32(clocks.count))
    for index in clocks.indices {
      writer.write(names[index])
      clocks[index].encode(into: &writer)
    }
  }

  init(from reader: inout StateReader) throws(StateError) {
    for _ in 0..<(try reader.count(limit: 1_024)) {
      names.append(try reader.string(limit: 1_024))
      clocks.append(try PublisherClock(from: &reader))
    }
  }
}
