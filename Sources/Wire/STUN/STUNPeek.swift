/// Finds whom a check is for before anything about it is verified.
public enum STUNPeek {
  /// Where the receiver's user name fragment lies in a Binding request: what stands before the colon of
  /// USERNAME (RFC 8445 §7.2.2).
  /// - Returns: nil unless the datagram is a Binding request with a fragment; never empty.
  public static func localUfrag(in datagram: UnsafeRawBufferPointer) -> Range<Int>? {
    guard let header = try? STUNHeader(datagram), header.messageClass == .request,
      header.method == STUNMessage.binding
    else { return nil }
    var attributes = STUNAttributes()
    while let attribute = try? attributes.next(in: datagram) {
      guard attribute.type == .username else { continue }
      return localUfrag(in: datagram, username: attribute.value)
    }
    return nil
  }

  /// Which request a datagram answers; nil unless it looks like an answer.
  public static func answeredTransaction(in datagram: UnsafeRawBufferPointer) -> STUNTransactionID? {
    guard let header = try? STUNHeader(datagram),
      header.messageClass == .success || header.messageClass == .failure
    else { return nil }
    return header.transaction
  }

  /// The same, of a USERNAME that was found already.
  public static func localUfrag(
    in datagram: UnsafeRawBufferPointer, username: Range<Int>
  ) -> Range<Int>? {
    guard username.lowerBound >= 0, username.upperBound <= datagram.count else { return nil }
    guard let colon = username.first(where: { datagram[$0] == UInt8(ascii: ":") }),
      colon > username.lowerBound
    else { return nil }
    return username.lowerBound..<colon
  }
}
