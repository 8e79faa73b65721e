/// An array of values that can't be copied, in memory of its own; elements are changed in place.
struct OwnedArray<Element: ~Copyable>: ~Copyable {
  private var base: UnsafeMutablePointer<Element>?
  private var capacity = 0
  private(set) var count = 0

  init() {}

  deinit {
    base?.deinitialize(count: count)
    base?.deallocate()
  }

  mutating func append(_ element: consuming Element) {
    if count == capacity {
      let grown = max(4, capacity * 2)
      let memory = UnsafeMutablePointer<Element>.allocate(capacity: grown)
      if let base {
        memory.moveInitialize(from: base, count: count)
        base.deallocate()
      }
      base = memory
      capacity = grown
    }
    (base! + count).initialize(to: element)
    count += 1
  }

  /// The element's place; valid until the next `append`.
  @inline(__always)
  func pointer(_ index: Int) -> UnsafeMutablePointer<Element> {
    precondition(index >= 0 && index < count)
    return base.unsafelyUnwrapped + index
  }
}
