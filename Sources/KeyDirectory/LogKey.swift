internal import Crypto
internal import Storage

/// The key that signs the log's heads, as the store knows it.
enum LogKey {
  /// Takes the given key or the store's, and makes one where there is neither.
  static func open(
    _ given: SigningKey?, in transaction: borrowing Transaction
  ) throws(StoreError) -> Result<SigningKey, KeyDirectoryError> {
    let rows = try transaction.run("SELECT size, public_key, private_key FROM key_log WHERE one = 1")
    guard let row = rows.first else { return try begin(given, in: transaction) }
    let publicKey = try row.bytes(1)
    guard let given else { return try stored(row, publicKey) }
    if given.publicKey == publicKey { return .success(given) }
    // Clients know a log by its key, but there is nothing yet that they could have from it.
    guard try row.integer(0) == 0 else { return .failure(.keyOfAnother) }
    try transaction.run(
      "UPDATE key_log SET public_key = $1, private_key = NULL WHERE one = 1", [.bytes(given.publicKey)])
    return .success(given)
  }

  private static func begin(
    _ given: SigningKey?, in transaction: borrowing Transaction
  ) throws(StoreError) -> Result<SigningKey, KeyDirectoryError> {
    if let given { return .success(try add(given, pem: nil, in: transaction)) }
    let (made, pem): (SigningKey, String)
    do throws(OpenSSLError) {
      made = try SigningKey()
      pem = try made.pem()
    } catch { return .failure(.cannotMakeKey(error)) }
    return .success(try add(made, pem: pem, in: transaction))
  }

  /// - Parameter pem: what the store keeps of it.
  private static func add(
    _ key: SigningKey, pem: String?, in transaction: borrowing Transaction
  ) throws(StoreError) -> SigningKey {
    try transaction.run(
      "INSERT INTO key_log (one, size, public_key, private_key) VALUES (1, 0, $1, $2)",
      [.bytes(key.publicKey), .optional(pem) { .bytes(of: $0) }])
    return key
  }

  private static func stored(
    _ row: SQLRow, _ publicKey: [UInt8]
  ) throws(StoreError) -> Result<SigningKey, KeyDirectoryError> {
    guard try row.optionalBytes(2) != nil else { return .failure(.keyMissing) }
    let pem = try row.string(2)
    let key: SigningKey
    do throws(SigningKeyError) { key = try SigningKey(pem: pem) } catch {
      throw .unreadable("the stored key of the log of keys can't be read: \(error)")
    }
    guard key.publicKey == publicKey else {
      throw .unreadable("the stored key of the log of keys isn't that of its public key")
    }
    return .success(key)
  }
}
