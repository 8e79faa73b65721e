internal import Crypto

/// The public key of a device, of one of the kinds that there are.
public struct DeviceKey: Hashable, Sendable {
  /// Of any algorithm.
  public static let mostBytes = 4_096

  public let algorithm: KeyAlgorithm
  public let bytes: [UInt8]

  /// Sees that the bytes are a key of that kind; each key has one form.
  /// - Throws: `tooLarge`, `badKey`.
  public init(_ algorithm: KeyAlgorithm, _ bytes: [UInt8]) throws(KeyRefusal) {
    // Before anything looks into them.
    guard bytes.count <= Self.mostBytes else { throw .tooLarge(bytes: bytes.count) }
    do throws(PublicKeyError) { try algorithm.check(bytes) } catch { throw .badKey(error) }
    self.algorithm = algorithm
    self.bytes = bytes
  }

  /// One that was checked as it came; what others may have made of it since, its place in the tree shows.
  init(stored algorithm: KeyAlgorithm, _ bytes: [UInt8]) {
    self.algorithm = algorithm
    self.bytes = bytes
  }
}
