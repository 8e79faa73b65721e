public import Crypto
public import Storage

/// Why the directory can't be opened.
public enum KeyDirectoryError: Error, Equatable, Sendable, CustomStringConvertible {
  case store(StoreError)
  /// What was given is no key for it.
  case badKey(SigningKeyError)
  /// The log has leaves, and its heads were signed by another key than the given one.
  case keyOfAnother
  /// The log's heads were signed by a key that was given then, and isn't now.
  case keyMissing
  case cannotMakeKey(OpenSSLError)

  public var description: String {
    switch self {
    case .store(let error): "\(error)"
    case .badKey(let error): "the key that signs the log of keys: \(error)"
    case .keyOfAnother:
      "the log of keys was signed by another key than the given one: clients know it by that key, so give it again"
    case .keyMissing:
      "the log of keys was signed by a key that was given then and isn't now: give it again"
    case .cannotMakeKey(let error): "no key for the log of keys: \(error)"
    }
  }
}
