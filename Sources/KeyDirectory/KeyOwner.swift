internal import Crypto

/// A person whose keys are in the log. The tree knows hashes of its names under a salt, so that without the salt they are nothing.
struct KeyOwner: Sendable {
  static let saltSize = 32

  let person: String
  let salt: [UInt8]

  /// One that had no salt, or whose salt was erased.
  init(new person: String) {
    self.init(person: person, salt: Random.key(Self.saltSize))
  }

  init(person: String, salt: [UInt8]) {
    self.person = person
    self.salt = salt
  }

  /// Of the person's name or a device's.
  func hash(of name: String) -> [UInt8] { SHA256.digest(salt + Array(name.utf8)) }
}
