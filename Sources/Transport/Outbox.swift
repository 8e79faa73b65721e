public import Model

/// Datagrams on their way out, in the order in which they were written; taken by the socket's owner.
///
/// Memory is taken once. When it is full, `whenFull` must empty it (a worker sends, a simulation delivers), so
/// one packet for a thousand subscribers needs no more memory than one for ten.
public struct Outbox: ~Copyable {
  /// A finished datagram: its bytes in `memory`, and the path it takes.
  public struct Entry {
    public var offset: Int
    public var size: Int
    public var path: NetworkPath

    @inlinable
    init(offset: Int, size: Int, path: NetworkPath) {
      self.offset = offset
      self.size = size
      self.path = path
    }
  }

  /// The largest datagram that is ever written; media of a larger path MTU is not sent.
  public static let slotSize = 1_600
  /// Of it, what is there before sealing adds its tag and index.
  public static let plainSize = slotSize - 32

  @usableFromInline let memory: UnsafeMutableRawPointer
  @usableFromInline let capacity: Int
  @usableFromInline let entries: UnsafeMutablePointer<Entry>
  @usableFromInline let entryCapacity: Int
  /// Finished datagrams.
  @inlinable public var count: Int { finished }
  @usableFromInline var finished = 0
  @usableFromInline var used = 0
  /// Gone while it runs.
  private var whenFull: OutboxFlush?

  /// - Parameters:
  ///   - datagrams: how many fit before `whenFull` is called; at least 1.
  ///   - whenFull: must call `removeAll`.
  public init(datagrams: Int, whenFull: @escaping (inout Outbox) -> Void) {
    entryCapacity = max(datagrams, 1)
    capacity = entryCapacity * Self.slotSize
    memory = .allocate(byteCount: capacity, alignment: 64)
    entries = .allocate(capacity: entryCapacity)
    self.whenFull = OutboxFlush(send: whenFull)
  }

  deinit {
    memory.deallocate()
    entries.deallocate()
  }

  @inlinable public var isEmpty: Bool { count == 0 }

  /// Room for one datagram, to be written and then committed; valid until the next call.
  @inlinable @inline(__always)
  public mutating func reserve() -> UnsafeMutableRawBufferPointer {
    if finished == entryCapacity || capacity &- used < Self.slotSize {
      flush()
    }
    return UnsafeMutableRawBufferPointer(start: memory + used, count: Self.slotSize)
  }

  @inline(never) @usableFromInline
  mutating func flush() {
    // Taken out and put back: a copy would retain it.
    guard let whenFull = whenFull.take() else { preconditionFailure("whenFull writes datagrams") }
    whenFull.send(&self)
    self.whenFull = consume whenFull
    precondition(count == 0 && used == 0, "whenFull left datagrams behind")
  }

  /// Finishes the datagram whose room `reserve` gave last.
  /// - Parameter size: at most `slotSize`.
  @inlinable @inline(__always)
  public mutating func commit(size: Int, path: NetworkPath) {
    assert(size <= Self.slotSize)
    entries[finished] = Entry(offset: used, size: size, path: path)
    finished &+= 1
    // Datagrams start on eight bytes; sizes stay exact.
    used &+= (size &+ 7) & ~7
  }

  /// Copies a datagram in; those over `slotSize` are refused.
  @discardableResult
  public mutating func append(_ bytes: UnsafeRawBufferPointer, path: NetworkPath) -> Bool {
    guard bytes.count <= Self.slotSize else { return false }
    reserve().copyMemory(from: bytes)
    commit(size: bytes.count, path: path)
    return true
  }

  public subscript(index: Int) -> Entry { entries[index] }

  /// The bytes of a finished datagram; valid until `removeAll`.
  public func bytes(_ entry: Entry) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: memory + entry.offset, count: entry.size)
  }

  public mutating func removeAll() {
    finished = 0
    used = 0
  }
}

/// What empties a full outbox: a value that can only be moved, so that running it counts no reference.
struct OutboxFlush: ~Copyable {
  let send: (inout Outbox) -> Void
}
