/// A user name fragment of ours as a dictionary key: its 15 bytes, without a String.
struct UfragKey: Hashable, Sendable {
  var high: UInt64
  var low: UInt64

  /// - Returns: nil for a fragment that isn't of our making.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count == 15 else { return nil }
    high = bytes.loadUnaligned(as: UInt64.self)
    low = 0
    for index in 8..<15 { low = low << 8 | UInt64(bytes[index]) }
  }

  /// As it was read before.
  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  init?(_ text: String) {
    let key = Array(text.utf8).withUnsafeBytes { UfragKey($0) }
    guard let key else { return nil }
    self = key
  }
}
