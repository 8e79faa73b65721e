import COpenSSL

/// Random bytes for keys, identifiers and passwords, from OpenSSL's generator.
///
/// Everything random in this module goes through `RAND_bytes` and `RAND_priv_bytes`, so that a simulation can
/// supply its own generator in one place.
public enum Random {
  /// Fills `buffer` with bytes that may become public.
  public static func fill(_ buffer: UnsafeMutableRawBufferPointer) {
    guard let base = buffer.baseAddress, buffer.count > 0 else { return }
    let done = RAND_bytes(base.assumingMemoryBound(to: UInt8.self), Int32(buffer.count))
    // Without randomness nothing here is safe, and nothing a remote peer does leads here.
    guard done == 1 else { fatalError("no random bytes: \(OpenSSLError.take("RAND_bytes"))") }
  }

  /// Fills `buffer` with bytes that stay secret; drawn from a generator of their own.
  public static func fillPrivate(_ buffer: UnsafeMutableRawBufferPointer) {
    guard let base = buffer.baseAddress, buffer.count > 0 else { return }
    let done = RAND_priv_bytes(base.assumingMemoryBound(to: UInt8.self), Int32(buffer.count))
    guard done == 1 else { fatalError("no random bytes: \(OpenSSLError.take("RAND_priv_bytes"))") }
  }

  public static func bytes(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      fill(UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<count]))
      initialized = count
    }
  }

  /// `count` secret bytes: a key or a salt.
  public static func key(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      fillPrivate(UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<count]))
      initialized = count
    }
  }

  public static func integer<T: FixedWidthInteger>(_ type: T.Type = T.self) -> T {
    var value: T = 0
    withUnsafeMutableBytes(of: &value) { fill($0) }
    return value
  }
}
