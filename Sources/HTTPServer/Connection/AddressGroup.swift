package import Model

/// What a bound per address counts: an IPv4 address, or an IPv6 /64, which is what one customer has.
package struct AddressGroup: Hashable, Sendable {
  private var high: UInt64
  private var low: UInt64

  package init(_ address: SocketAddress) {
    high = address.high
    low = address.isIPv4 ? address.low : 0
  }
}
