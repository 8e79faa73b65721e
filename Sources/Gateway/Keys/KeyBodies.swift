internal import CallDesk
internal import KeyDirectory
internal import KeyLog
internal import Model
internal import Signalling

/// What the log of keys answers, as JSON: hashes in hexadecimal digits, what isn't a hash in base64.
enum KeyBodies {
  struct Head: Encodable {
    let size: Int
    let root: String
    let time: String
    let signature: String

    init(_ head: SignedHead) {
      size = head.size
      root = KeyBodies.hex(head.root)
      time = head.time.text
      signature = KeyBodies.base64(head.signature)
    }
  }

  /// An entry of the log; of a revocation there is no algorithm and no key.
  struct Entry: Encodable {
    let id: String
    let leaf: Int
    let device: String
    let algorithm: String?
    let key: String?
    let time: String
    let path: [String]

    init(_ proven: ProvenEntry) {
      let entry = proven.entry
      id = entry.id.text
      leaf = entry.leaf
      device = entry.device
      algorithm = entry.key?.algorithm.name
      key = entry.key.map { KeyBodies.base64($0.bytes) }
      time = entry.time.text
      path = proven.path.map(KeyBodies.hex)
    }
  }

  struct Receipt: Encodable {
    let person: String
    let salt: String
    let entry: Entry
    let head: Head

    init(_ receipt: KeyReceipt, of person: String) {
      self.person = person
      salt = KeyBodies.base64(receipt.salt)
      entry = Entry(receipt.proven)
      head = Head(receipt.head)
    }
  }

  struct Keys: Encodable {
    let person: String
    let salt: String?
    let keys: [Entry]
    let head: Head
    let consistency: [String]?

    init(_ answer: KeyAnswer, of person: String) {
      self.person = person
      salt = answer.salt.map(KeyBodies.base64)
      keys = answer.keys.map(Entry.init)
      head = Head(answer.head)
      consistency = answer.consistency?.map(KeyBodies.hex)
    }
  }

  struct History: Encodable {
    let person: String
    let salt: String?
    let items: [Entry]
    /// For `before`; nil: there is no more.
    let next: String?
    let head: Head

    init(_ history: KeyHistory, of person: String) {
      self.person = person
      salt = history.salt.map(KeyBodies.base64)
      items = history.entries.map(Entry.init)
      next = history.next.map { String($0) }
      head = Head(history.head)
    }
  }

  struct Consistency: Encodable {
    let from: Int
    let to: Int
    let consistency: [String]
  }

  struct Log: Encodable {
    let algorithm = "ecdsa-p256-sha256"
    let key: String
  }

  static func hex(_ hash: MerkleHash) -> String { KeyID(hash).text }

  static func base64(_ bytes: [UInt8]) -> String { String(decoding: Base64.encode(bytes), as: UTF8.self) }
}
