internal import Model

/// What left under transport-wide numbers, until feedback says what became of it. Memory grows with the rate, from 8 KiB to
/// 128 KiB; beyond it the oldest are forgotten, as if no feedback about them came.
struct SentPackets: ~Copyable {
  enum State: UInt8, BitwiseCopyable {
    case inFlight, lost, arrived
  }

  struct Packet: BitwiseCopyable {
    var sentAt: Int64 = 0
    /// Bytes on the wire, with UDP and IP.
    var size: UInt16 = 0
    /// Of probes; 0 for all else.
    var cluster: UInt16 = 0
    var state = State.lost
  }

  private static let least = 512
  private static let most = 8_192
  /// Packets younger than this make the table grow rather than be forgotten.
  private static let kept: Int64 = 2_000_000_000

  /// Keeps the estimator, its session and its peer in their places as well, which have this in them.
  private let inPlace = InPlace()
  /// Taken with the first packet: most remotes only send.
  private var entries: UnsafeMutablePointer<Packet>?
  private var capacity = 0
  /// The number that the next packet gets.
  private(set) var next: Int64 = 0
  private var oldest: Int64 = 0
  /// All below it are out of flight.
  private var flightBegin: Int64 = 0
  private(set) var bytesInFlight = 0

  /// By stream and number, where feedback names packets so; taken with the first that it may name.
  private var names = StreamNames()

  init() {}

  deinit { entries?.deallocate() }

  /// A packet that was appended has a name of its own beside its number.
  mutating func name(_ number: Int64, ssrc: UInt32, sequence: UInt16) {
    names.insert(number, ssrc: ssrc, sequence: sequence)
  }

  /// The number of the packet that feedback means; nil for none that was sent and is kept.
  func number(ssrc: UInt32, sequence: UInt16) -> Int64? {
    guard let number = names.find(ssrc: ssrc, sequence: sequence), number >= oldest, number < next else {
      return nil
    }
    return number
  }

  /// - Returns: the number under which the packet leaves.
  mutating func append(size: Int, cluster: UInt16, at now: Instant) -> Int64 {
    if next &- oldest == Int64(capacity) {
      if capacity == 0 || capacity < Self.most && now.nanoseconds &- self[oldest].sentAt < Self.kept {
        grow()
      } else {
        forgetOldest()
      }
    }
    let number = next
    self[number] = Packet(
      sentAt: now.nanoseconds, size: UInt16(clamping: size), cluster: cluster, state: .inFlight)
    next &+= 1
    bytesInFlight &+= Int(UInt16(clamping: size))
    return number
  }

  /// The number that feedback means by its lower 16 bits; nil for none that was sent and is kept.
  func extend(_ sequence: UInt16) -> Int64? {
    let last = next &- 1
    let number = last &+ Int64(Int16(bitPattern: sequence &- UInt16(truncatingIfNeeded: last)))
    return number >= oldest && number < next ? number : nil
  }

  /// - Precondition: `extend` has answered it.
  subscript(number: Int64) -> Packet {
    get { entries![Int(truncatingIfNeeded: number) & (capacity - 1)] }
    nonmutating set { entries![Int(truncatingIfNeeded: number) & (capacity - 1)] = newValue }
  }

  /// Feedback has come about a packet: none up to it is in flight any more, since a receiver reports in order.
  mutating func land(upTo number: Int64) {
    while flightBegin <= number {
      bytesInFlight &-= Int(self[flightBegin].size)
      flightBegin &+= 1
    }
  }

  /// Nothing is in flight any more; what is heard of it yet counts.
  mutating func landAll() {
    flightBegin = next
    bytesInFlight = 0
  }

  /// When the oldest packet in flight was sent; nil: none is.
  var oldestInFlight: Instant? {
    flightBegin < next ? Instant(nanoseconds: self[flightBegin].sentAt) : nil
  }

  /// Nothing that was sent until now counts any more.
  mutating func forgetAll() {
    oldest = next
    flightBegin = next
    bytesInFlight = 0
  }

  private mutating func forgetOldest() {
    if flightBegin == oldest { land(upTo: oldest) }
    oldest &+= 1
  }

  private mutating func grow() {
    let size = max(Self.least, capacity * 2)
    let grown = UnsafeMutablePointer<Packet>.allocate(capacity: size)
    grown.initialize(repeating: Packet(), count: size)
    for number in oldest..<next { grown[Int(truncatingIfNeeded: number) & (size - 1)] = self[number] }
    entries?.deallocate()
    entries = grown
    capacity = size
  }

  /// The number that comes next is all that outlives a move: what is in flight is forgotten.
  func encode(into writer: inout StateWriter) { writer.write(next) }

  init(from reader: inout StateReader) throws(StateError) {
    self.init()
    let offset = reader.offset
    next = try reader.integer()
    guard next >= 0, next < 1 << 62 else { throw .invalid(field: "transport-wide number", offset: offset) }
    (oldest, flightBegin) = (next, next)
  }
}
