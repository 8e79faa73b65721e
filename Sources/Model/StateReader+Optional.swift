/// What may be missing: a byte that says whether it is there, and then the value.
extension StateReader {
  public mutating func optionalString(limit: Int) throws(StateError) -> String? {
    try bool() ? try string(limit: limit) : nil
  }
  public mutating func optionalInteger<T: FixedWidthInteger>(_ type: T.Type = T.self) throws(StateError) -> T?
  {
    try bool() ? try integer(type) : nil
  }
  public mutating func optionalInstant() throws(StateError) -> Instant? {
    try bool() ? try instant() : nil
  }
  public mutating func peerKey() throws(StateError) -> PeerKey { PeerKey(rawValue: try integer()) }
  public mutating func trackKey() throws(StateError) -> TrackKey {
    TrackKey(peer: try peerKey(), index: try integer())
  }
  public mutating func random() throws(StateError) -> RandomSource {
    try optionalInteger(UInt64.self).map { .seeded(state: $0) } ?? .system
  }
  /// A value of an enumeration by its number.
  public mutating func value<T: RawRepresentable>(
    _ field: String, _ type: T.Type = T.self
  ) throws(StateError) -> T where T.RawValue: FixedWidthInteger {
    let start = offset
    guard let value = T(rawValue: try integer()) else { throw .invalid(field: field, offset: start) }
    return value
  }
  /// A value of an enumeration by its name.
  public mutating func named<T: RawRepresentable>(
    _ field: String, _ type: T.Type = T.self
  ) throws(StateError) -> T where T.RawValue == String {
    let start = offset
    guard let value = T(rawValue: try string(limit: 256)) else { throw .invalid(field: field, offset: start) }
    return value
  }
}
