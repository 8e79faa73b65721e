internal import Crypto
internal import Model
internal import Wire

/// Which side decides what pair is used (RFC 8445 §6.1.1).
public enum ICERole: UInt8, Sendable {
  case controlling = 0
  case controlled = 1
}

/// What a check says about its sender.
struct CheckContents: Sendable {
  var role: ICERole
  var tieBreaker: UInt64
  var priority: UInt32
  var useCandidate = false
  /// 0: none is sent.
  var nomination: UInt32 = 0
}

/// The credentials of both sides, from one ICE restart to the next, with their keys scheduled. Everything
/// that is verified or sealed passes here.
struct CredentialSet: ~Copyable {
  /// Counts the restarts of one agent.
  let generation: UInt32
  let local: ICECredentials
  private(set) var remote: ICECredentials?
  private let localUfrag: [UInt8]
  private var remoteUfrag: [UInt8] = []
  private var localKey: HMAC
  private var remoteKey: HMAC?

  init(generation: UInt32, local: ICECredentials, remote: ICECredentials?) {
    self.generation = generation
    self.local = local
    localUfrag = Array(local.ufrag.utf8)
    localKey = HMAC(.sha1, key: Array(local.password.utf8))
    if let remote { setRemote(remote) }
  }

  mutating func setRemote(_ credentials: ICECredentials) {
    remote = credentials
    remoteUfrag = Array(credentials.ufrag.utf8)
    remoteKey = HMAC(.sha1, key: Array(credentials.password.utf8))
  }

  /// Whether a check's USERNAME is meant for us: what stands before its colon is our fragment (RFC 8445
  /// §7.3).
  func isAddressed(by message: borrowing STUNMessage, in datagram: UnsafeRawBufferPointer) -> Bool {
    guard let username = message.username,
      let ufrag = STUNPeek.localUfrag(in: datagram, username: username)
    else { return false }
    return datagram[ufrag].elementsEqual(localUfrag)
  }

  /// Whether a check's USERNAME says that it comes from the far end: what stands behind its colon is the far end's fragment.
  func isNamed(by message: borrowing STUNMessage, in datagram: UnsafeRawBufferPointer) -> Bool {
    guard remote != nil, let username = message.username,
      let ufrag = STUNPeek.localUfrag(in: datagram, username: username),
      ufrag.upperBound < username.upperBound
    else { return false }
    return datagram[(ufrag.upperBound + 1)..<username.upperBound].elementsEqual(remoteUfrag)
  }

  /// Whether a request was sealed with our password.
  mutating func verifyRequest(_ message: borrowing STUNMessage, _ datagram: UnsafeRawBufferPointer) -> Bool {
    Self.verify(message, datagram, &localKey)
  }

  /// Whether an answer was sealed with the far end's password.
  mutating func verifyAnswer(_ message: borrowing STUNMessage, _ datagram: UnsafeRawBufferPointer) -> Bool {
    guard var key = remoteKey.take() else { return false }
    let isValid = Self.verify(message, datagram, &key)
    remoteKey = consume key
    return isValid
  }

  /// Writes a check.
  /// - Returns: its size; nil if the far end's credentials aren't known.
  mutating func writeCheck(
    _ transaction: STUNTransactionID, _ contents: CheckContents, into buffer: UnsafeMutableRawBufferPointer
  ) -> Int? {
    guard var key = remoteKey.take() else { return nil }
    var writer = STUNWriter(buffer, .request, transaction: transaction)
    writer.appendUsername(remoteUfrag, localUfrag)
    writer.append(.priority, contents.priority)
    writer.append(
      contents.role == .controlling ? .iceControlling : .iceControlled, contents.tieBreaker)
    if contents.useCandidate { writer.append(.useCandidate) }
    if contents.nomination > 0 { writer.append(.nomination, contents.nomination) }
    let size = Self.seal(&writer, buffer, &key)
    remoteKey = consume key
    return size
  }

  mutating func writeSuccess(
    _ transaction: STUNTransactionID, mapped: SocketAddress, into buffer: UnsafeMutableRawBufferPointer
  ) -> Int? {
    var writer = STUNWriter(buffer, .success, transaction: transaction)
    writer.appendMapped(mapped)
    return Self.seal(&writer, buffer, &localKey)
  }

  mutating func writeRoleConflict(
    _ transaction: STUNTransactionID, into buffer: UnsafeMutableRawBufferPointer
  ) -> Int? {
    var writer = STUNWriter(buffer, .failure, transaction: transaction)
    writer.appendError(487, "Role Conflict")
    return Self.seal(&writer, buffer, &localKey)
  }

  mutating func writeUnknownAttributes(
    of message: borrowing STUNMessage, into buffer: UnsafeMutableRawBufferPointer
  ) -> Int? {
    var writer = STUNWriter(buffer, .failure, transaction: message.transaction)
    writer.appendError(420, "Unknown Attribute")
    writer.appendUnknown(of: message)
    return Self.seal(&writer, buffer, &localKey)
  }

  /// MESSAGE-INTEGRITY covers the header with a length that ends at the attribute itself, whatever follows
  /// (RFC 8489 §14.5).
  private static func verify(
    _ message: borrowing STUNMessage, _ datagram: UnsafeRawBufferPointer, _ key: inout HMAC
  ) -> Bool {
    guard let offset = message.integrityOffset, offset + 24 <= datagram.count else { return false }
    var code: InlineArray<20, UInt8> = InlineArray(repeating: 0)
    let length = UInt16(truncatingIfNeeded: offset + 24 - STUNHeader.size)
    key.begin()
    key.update(UnsafeRawBufferPointer(rebasing: datagram[0..<2]))
    withUnsafeBytes(of: length.bigEndian) { key.update($0) }
    key.update(UnsafeRawBufferPointer(rebasing: datagram[4..<offset]))
    return withUnsafeMutableBytes(of: &code) { code in
      key.finish(into: code)
      return HMAC.isEqual(
        UnsafeRawBufferPointer(code), UnsafeRawBufferPointer(rebasing: datagram[(offset + 4)..<(offset + 24)])
      )
    }
  }

  private static func seal(
    _ writer: inout STUNWriter, _ buffer: UnsafeMutableRawBufferPointer, _ key: inout HMAC
  ) -> Int? {
    guard let offset = writer.openIntegrity() else { return nil }
    key.begin()
    key.update(UnsafeRawBufferPointer(rebasing: buffer[..<offset]))
    key.finish(into: UnsafeMutableRawBufferPointer(rebasing: buffer[(offset + 4)...]))
    writer.appendFingerprint()
    return writer.overflowed ? nil : writer.count
  }
}

extension CredentialSet {
  func encode(into writer: inout StateWriter) {
    writer.write(generation)
    writer.write(local)
    writer.write(remote != nil)
    if let remote { writer.write(remote) }
  }

  init(from reader: inout StateReader) throws(StateError) {
    self.init(
      generation: try reader.integer(), local: try reader.credentials(),
      remote: try reader.bool() ? try reader.credentials() : nil)
  }
}

extension StateWriter {
  mutating func write(_ credentials: ICECredentials) {
    write(credentials.ufrag)
    write(credentials.password)
  }
}

extension StateReader {
  /// Well above the 256 characters of RFC 8839 §5.4, so that whatever was taken can be handed on.
  private static let credentialLimit = 4096

  mutating func credentials() throws(StateError) -> ICECredentials {
    ICECredentials(
      ufrag: try string(limit: Self.credentialLimit), password: try string(limit: Self.credentialLimit))
  }
}
