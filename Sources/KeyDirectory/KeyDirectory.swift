internal import Crypto
internal import KeyLog
internal import Model
public import Storage

/// Which keys the devices of people have, as a log that only grows (RFC 6962): what it has shown once it can't take back without
/// those noticing who keep its heads.
///
/// Each operation is there twice: within a transaction, for those who do other things in the same, and by itself. All answers carry
/// a head with the log's signature. The log proves that a key was published, not that it is the newest, nor whose a device is.
public struct KeyDirectory: Sendable {
  public let store: Store
  let key: SigningKey

  private init(_ store: Store, _ key: SigningKey) {
    self.store = store
    self.key = key
  }

  /// Begins the log where the store has none.
  /// - Parameter pem: the private key that signs its heads, of ECDSA on P-256 in PEM form; nil: one that the store keeps, made the first
  ///   time. It stays the same for the log's life, since clients know the log by it, and two logs never share one. As long as
  ///   the log has no leaf another may take its place.
  public static func open(
    in store: Store, signingKey pem: String? = nil
  ) async throws(KeyDirectoryError) -> KeyDirectory {
    var given: SigningKey?
    if let pem {
      do throws(SigningKeyError) { given = try SigningKey(pem: pem) } catch { throw .badKey(error) }
    }
    let opened: Result<SigningKey, KeyDirectoryError>
    do throws(StoreError) {
      opened = try await store.write(bytes: 1_024) { [given] transaction throws(StoreError) in
        try LogKey.open(given, in: transaction)
      }
    } catch { throw .store(error) }
    return KeyDirectory(store, try opened.get())
  }

  /// By which clients know the log: SubjectPublicKeyInfo in DER.
  public var publicKey: [UInt8] { key.publicKey }

  func sign(
    _ tree: StoredTree, root: MerkleHash, at time: WallTime
  ) throws(StoreError) -> SignedHead {
    let message = SignedHead.message(size: tree.size, root: root, time: time)
    do throws(OpenSSLError) {
      return SignedHead(
        size: tree.size, root: root, time: time, signature: try key.signature(of: message))
    } catch { throw .failed("the head of the log of keys can't be signed: \(error)") }
  }
}
