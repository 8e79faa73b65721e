/// An array of values that can't be copied, in memory of its own; elements are changed in place.
public struct OwnedArray<Element: ~Copyable>: ~Copyable {
  @usableFromInline var base: UnsafeMutablePointer<Element>?
  @usableFromInline var capacity = 0
  @usableFromInline var used = 0

  @inlinable @inline(__always)
  public var count: Int { used }

  @inlinable public init() {}

  /// - Parameter capacity: elements for which room is made at once.
  @inlinable
  public init(capacity: Int) {
    base = .allocate(capacity: capacity)
    self.capacity = capacity
  }

  @inlinable
  deinit {
    base?.deinitialize(count: used)
    base?.deallocate()
  }

  @inlinable
  public mutating func append(_ element: consuming Element) {
    if used == capacity {
      let grown = max(4, capacity * 2)
      let memory = UnsafeMutablePointer<Element>.allocate(capacity: grown)
      if let base {
        memory.moveInitialize(from: base, count: used)
        base.deallocate()
      }
      base = memory
      capacity = grown
    }
    (base! + used).initialize(to: element)
    used += 1
  }

  /// The element's place; valid until the next `append`.
  @inlinable @inline(__always)
  public func pointer(_ index: Int) -> UnsafeMutablePointer<Element> {
    precondition(index >= 0 && index < used)
    return base.unsafelyUnwrapped + index
  }
}
