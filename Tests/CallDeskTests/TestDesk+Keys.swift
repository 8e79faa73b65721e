import Calls
import Crypto
import KeyDirectory
import KeyLog
import Model
import Storage
import Testing

@testable import CallDesk

/// Keys as clients have them; what is wrapped is a word, since no one but its device reads it.
extension TestDesk {
  /// A point that no other key is.
  static func key() throws -> DeviceKey { try DeviceKey(.p256, Array(SigningKey().publicKey.suffix(65))) }

  /// Publishes a key of a device; `device` is the person's first unless it is said.
  @discardableResult
  func publish(_ person: String, _ device: String? = nil) async throws -> KeyID {
    let device = DeviceID(device ?? "\(person)1")
    return try await desk.publish(try Self.key(), of: device, by: Self.caller(person)).proven.entry.id
  }

  /// Publishes a key for each, in the directory itself: without a desk that counts.
  func publishEach(_ people: String...) async throws {
    for person in people {
      let time = WallTime(milliseconds: clock.now.wall)
      _ = try await directory.append(try Self.key(), of: person, device: "\(person)1", at: time).get()
    }
  }

  /// A word, wrapped for every device that has a key.
  func wrap(_ word: String, for people: String...) async throws -> [WrappedKey] {
    try await wrap(word, for: people)
  }

  func wrap(_ word: String, for people: [String]) async throws -> [WrappedKey] {
    var keys: [WrappedKey] = []
    for person in people {
      for current in try await directory.currentKeyIDs(of: person) {
        keys.append(
          WrappedKey(
            PersonID(person), DeviceID(current.device), keyID: current.id,
            ciphertext: Array("\(word) for \(person)/\(current.device)".utf8)))
      }
    }
    return keys
  }

  /// Starts an encrypted call with these keys.
  func startEncrypted(
    _ caller: String, _ others: [String], _ keys: [WrappedKey], id: CallUUID = uuid(), head: CallHead? = nil
  ) async throws(CallProblem) -> CallEntry {
    var start = CallDesk.Start(id: id, recipients: others.map { PersonID($0) }, media: .audio)
    (start.isEncrypted, start.keys, start.head) = (true, keys, head)
    return try await desk.start(start, by: Self.caller(caller))
  }

  /// An encrypted call whose key is `word`, of people who have keys.
  func startEncrypted(_ word: String, by caller: String, _ others: String...) async throws -> CallEntry {
    try await startEncrypted(caller, others, try await wrap(word, for: others))
  }

  /// What a device has of the call's key, in a word; nil: nothing.
  func unwrapped(_ call: CallUUID, _ person: String, _ device: String? = nil) async throws(CallProblem)
    -> String?
  {
    try await desk.callKey(of: call, for: PersonID(person), device: DeviceID(device ?? "\(person)1"))?.word
  }

  /// Rows of the table of wrapped keys.
  func keptKeys() async throws -> Int64 {
    try await store.read { transaction throws(StoreError) in
      try transaction.run("SELECT count(*) FROM call_keys").first?.integer(0) ?? 0
    }
  }
}

extension CallKey {
  /// What it is, without whose it is.
  var word: String {
    String(decoding: ciphertext, as: UTF8.self).split(separator: " for ").first.map(String.init) ?? ""
  }
}
