public import Crypto

/// Why something isn't done or answered. Nothing of it was done.
public enum KeyRefusal: Error, Equatable, Sendable, CustomStringConvertible {
  /// A person or a device without a name, or with one of more than 128 bytes.
  case badName
  /// A key of more than 4 KiB.
  case tooLarge(bytes: Int)
  /// What is no key of its algorithm.
  case badKey(PublicKeyError)
  /// The person has keys for as many devices as one may have.
  case tooManyDevices
  /// The person has never had a key for this device.
  case unknownDevice
  /// The log never had that many leaves, or not by then: `asked` isn't within 0 to `size`.
  case noSuchHead(asked: Int, size: Int)
  /// The log has as many leaves as one can have.
  case logFull

  public var description: String {
    switch self {
    case .badName: "a name has 1 to \(KeyBounds.nameBytes) bytes"
    case .tooLarge(let bytes): "a key of \(bytes) bytes: it may have \(DeviceKey.mostBytes)"
    case .badKey(let error): "\(error)"
    case .tooManyDevices:
      "keys of \(KeyBounds.devices) devices are current, which is the most: revoke one first"
    case .unknownDevice: "there was never a key for this device"
    case .noSuchHead(let asked, let size): "there is no head of \(asked) leaves up to that of \(size)"
    case .logFull: "the log is full"
    }
  }
}

/// What one person can make the log grow by. How often someone may append is for those who call it to bound: an entry stays for
/// ever in the tree, at about 100 bytes.
public enum KeyBounds {
  /// Of a person or a device, in UTF-8.
  public static let nameBytes = 128
  /// Whose keys of one person are current.
  public static let devices = 16
  /// Entries of a page of one's history.
  public static let page = 200
}
