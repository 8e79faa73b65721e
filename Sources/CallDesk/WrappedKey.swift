public import Calls
public import KeyDirectory
internal import KeyLog

/// The key of a call, encrypted for one device by who has it. The server reads nothing of it.
public struct WrappedKey: Hashable, Sendable {
  /// Bytes of what is encrypted.
  public static let mostBytes = 1_024
  /// Of one call: those of 32 people with 16 devices each.
  public static let most = 32 * KeyBounds.devices

  public var person: PersonID
  public var device: DeviceID
  /// The key of that device by which it was encrypted.
  public var keyID: KeyID
  public var ciphertext: [UInt8]

  public init(_ person: PersonID, _ device: DeviceID, keyID: KeyID, ciphertext: [UInt8]) {
    self.person = person
    self.device = device
    self.keyID = keyID
    self.ciphertext = ciphertext
  }
}

/// The key of a call as the device gets it for which it was wrapped.
public struct CallKey: Hashable, Sendable {
  public var keyID: KeyID
  public var ciphertext: [UInt8]
  /// Who has wrapped it.
  public var from: PersonID
  /// Which of the call's keys it is: 0 is that of the start.
  public var index: Int64
}

/// The key that a device has now, for who has wrapped something for another.
public struct CurrentKey: Hashable, Sendable {
  public var person: PersonID
  public var device: DeviceID
  public var keyID: KeyID
}

/// The wrapped keys that one participant uploads for a call, all with the same number.
struct KeyRound {
  var index: Int64 = 0
  var from: PersonID
  var keys: [WrappedKey]
}

extension [WrappedKey] {
  /// In the store's queue, roughly.
  var size: Int { reduce(0) { $0 + $1.ciphertext.count + 512 } }

  /// All of it as bytes that nothing else has.
  var content: [UInt8] {
    var bytes: [UInt8] = []
    for key in self {
      for part in [
        [UInt8](key.person.text.utf8), [UInt8](key.device.text.utf8), key.keyID.hash.bytes, key.ciphertext,
      ] {
        bytes += [UInt8]("\(part.count):".utf8)
        bytes += part
      }
    }
    return bytes
  }
}
