import COpenSSL

/// What OpenSSL refused, and the reason from its queue.
public struct OpenSSLError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The function that failed.
  public var operation: String
  /// OpenSSL's packed code; 0 where it gave none.
  public var code: UInt
  public var reason: String

  public var description: String { "\(operation): \(reason)" }

  /// The oldest entry of this thread's error queue, which is emptied.
  static func take(_ operation: String) -> OpenSSLError {
    let code = ERR_get_error()
    ERR_clear_error()
    var text = [CChar](repeating: 0, count: 256)
    if code != 0 { ERR_error_string_n(code, &text, text.count) }
    let reason = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return OpenSSLError(operation: operation, code: code, reason: code == 0 ? "no reason given" : reason)
  }

  /// The alert that the far end sent, where that is what happened (RFC 5246 §7.2).
  var alertReceived: UInt8? {
    // Reasons from SSL_AD_REASON_OFFSET on are received alerts; the lower 23 bits of a code are the reason.
    let reason = Int(code & 0x7F_FFFF) - Int(SSL_AD_REASON_OFFSET)
    return code >> 23 & 0xFF == UInt(ERR_LIB_SSL) && (0...255).contains(reason) ? UInt8(reason) : nil
  }
}
