/// What may be missing: a byte that says whether it is there, and then the value.
extension StateWriter {
  public mutating func write(optional value: String?) {
    write(value != nil)
    if let value { write(value) }
  }
  public mutating func write<T: FixedWidthInteger>(optional value: T?) {
    write(value != nil)
    if let value { write(value) }
  }
  public mutating func write(optional value: Instant?) { write(optional: value?.nanoseconds) }
  public mutating func write(_ value: PeerKey) { write(value.rawValue) }
  public mutating func write(_ value: TrackKey) {
    write(value.peer)
    write(value.index)
  }
  public mutating func write(_ value: RandomSource) {
    switch value {
    case .system: write(optional: UInt64?.none)
    case .seeded(let state): write(optional: state)
    }
  }
}
