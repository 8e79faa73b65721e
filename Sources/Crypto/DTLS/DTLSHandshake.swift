import COpenSSL
public import Model

/// One end of a DTLS 1.2 handshake (RFC 6347, RFC 5764) without socket or timer.
///
/// The owner hands in datagrams and the time, takes out datagrams, and calls `poll` at `deadline`:
///
///     start ─▶ in progress ──receive, poll──▶ connected (association)
///                    └─────────────────────▶ failed (an alert is among the outgoing)
///
/// OpenSSL asks the system's clock for its own time-outs, so `now` has to run as fast as `gettimeofday`.
/// Both ends are final, and OpenSSL's object is freed on reaching them.
public struct DTLSHandshake: ~Copyable {
  /// Time until an unfinished handshake is given up.
  public static let patience: Duration = .seconds(30)
  /// The most bytes of an outgoing datagram.
  public static let datagramSize = 1_200

  public enum Progress: Equatable, Sendable {
    case inProgress
    case connected(DTLSAssociation)
    case failed(DTLSError)
  }

  public let role: DTLSRole
  /// Where the handshake stands; what `start`, `receive` and `poll` returned last.
  public private(set) var progress = Progress.inProgress
  private var ssl: OpaquePointer?
  private let link: DTLSLink
  private let giveUpAt: Instant
  private var nextTimeout = Instant.never

  /// - Parameter expected: the fingerprints of the far end's description, of which the first sixteen count; any
  ///   of them will do, none refuses all.
  public init(context: DTLSContext, role: DTLSRole, expecting expected: [Fingerprint], now: Instant) {
    self.init(context: context, role: role, expecting: expected, now: now, datagramSize: Self.datagramSize)
  }

  init(
    context: DTLSContext, role: DTLSRole, expecting expected: [Fingerprint], now: Instant, datagramSize: Int
  ) {
    self.role = role
    link = DTLSLink(expected: Array(expected.prefix(16)), datagramSize: datagramSize)
    giveUpAt = now + Self.patience
    ERR_clear_error()
    guard let ssl = SSL_new(context.pointer) else {
      progress = .failed(.refused(.take("SSL_new")))
      return
    }
    guard let bio = link.makeBIO() else {
      SSL_free(ssl)
      progress = .failed(.refused(.take("BIO_new")))
      return
    }
    self.ssl = ssl
    SSL_set_bio(ssl, bio, bio)
    SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(link).toOpaque())
    shim_SSL_set_mtu(ssl, datagramSize)
    DTLS_set_timer_cb(ssl) { DTLSTimeout.next(after: $1) }
    switch role {
    case .client: SSL_set_connect_state(ssl)
    case .server: SSL_set_accept_state(ssl)
    }
  }

  deinit {
    if let ssl { withExtendedLifetime(link) { SSL_free(ssl) } }
  }

  /// When to call `poll`, nil once the handshake is over.
  public var deadline: Instant? { progress == .inProgress ? min(nextTimeout, giveUpAt) : nil }

  /// Sends the ClientHello as client; the server waits for it.
  public mutating func start(now: Instant) -> Progress {
    role == .client ? advance(now: now) : progress
  }

  /// Takes a datagram of the far end. What consists of anything but records is left alone.
  public mutating func receive(_ datagram: UnsafeRawBufferPointer, now: Instant) -> Progress {
    guard DTLSRecord.looksLikeRecords(datagram) else { return progress }
    link.incoming = datagram
    defer { link.incoming = nil }
    return advance(now: now)
  }

  /// Repeats a flight that was not answered in time, or gives up.
  public mutating func poll(now: Instant) -> Progress {
    guard let ssl else { return progress }
    guard now < giveUpAt else { return end(.failed(.timedOut)) }
    ERR_clear_error()
    guard shim_DTLSv1_handle_timeout(ssl) >= 0 else {
      let error = OpenSSLError.take("DTLSv1_handle_timeout")
      return end(.failed(Self.isTimeout(error) ? .timedOut : .refused(error)))
    }
    updateTimeout(now: now)
    return progress
  }

  /// The next datagram to send, at most `datagramSize` bytes, nil when there is none. There may be some left
  /// after the handshake has ended either way.
  public mutating func nextDatagram() -> [UInt8]? { link.takeDatagram() }

  // MARK: OpenSSL

  private mutating func advance(now: Instant) -> Progress {
    guard let ssl else { return progress }
    guard now < giveUpAt else { return end(.failed(.timedOut)) }
    ERR_clear_error()
    let written = link.outgoing.count
    let result = SSL_do_handshake(ssl)
    if result == 1 { return end(connect(ssl, flight: link.outgoing[written...])) }
    switch SSL_get_error(ssl, result) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE:
      updateTimeout(now: now)
      return progress
    default:
      return end(.failed(reason(.take("SSL_do_handshake"))))
    }
  }

  private func reason(_ error: OpenSSLError) -> DTLSError {
    if link.verdict == .refused { return .wrongFingerprint }
    if let alert = error.alertReceived { return .alertReceived(alert) }
    return Self.isTimeout(error) ? .timedOut : .refused(error)
  }

  private static func isTimeout(_ error: OpenSSLError) -> Bool {
    Int(error.code & 0x7F_FFFF) == Int(SSL_R_READ_TIMEOUT_EXPIRED)
  }

  /// Takes out what is needed from a finished handshake.
  private func connect(_ ssl: OpaquePointer, flight: ArraySlice<[UInt8]>) -> Progress {
    // Without an accepted certificate OpenSSL does not get here; the media's safety rests on it all the same.
    guard link.verdict == .accepted else { return .failed(.wrongFingerprint) }
    guard let chosen = SSL_get_selected_srtp_profile(ssl),
      let profile = SRTPProfile(rawValue: UInt16(truncatingIfNeeded: chosen.pointee.id))
    else { return .failed(.noSRTPProfile) }

    // RFC 5764 §4.2: client key, server key, client salt, server salt.
    let (key, salt) = (profile.keySize, profile.saltSize)
    var secret = [UInt8](repeating: 0, count: 2 * (key + salt))
    let label = "EXTRACTOR-dtls_srtp"
    guard
      SSL_export_keying_material(ssl, &secret, secret.count, label, label.utf8.count, nil, 0, 0) == 1
    else { return .failed(.refused(.take("SSL_export_keying_material"))) }
    let client = SRTPKeys(
      profile: profile, masterKey: Array(secret[..<key]),
      masterSalt: Array(secret[(2 * key)..<(2 * key + salt)]))
    let server = SRTPKeys(
      profile: profile, masterKey: Array(secret[key..<(2 * key)]),
      masterSalt: Array(secret[(2 * key + salt)...])
    )
    OPENSSL_cleanse(&secret, secret.count)

    // A time-out in the same call may have repeated the flight before.
    let last = flight.filter { $0.withUnsafeBytes { Self.belongsToLastFlight($0) } }
    // Sealed now, because there is no object to do it later; not sent before the end.
    let written = link.outgoing.count
    let closing = SSL_shutdown(ssl) >= 0 ? link.takeBack(from: written) : []
    return .connected(
      DTLSAssociation(
        role: role, localKeys: role == .client ? client : server,
        remoteKeys: role == .client ? server : client, lastFlight: role == .server ? last : [],
        farewell: closing.first.flatMap { DTLSFarewell(ssl, role: role, own: $0) }))
  }

  private static func belongsToLastFlight(_ datagram: UnsafeRawBufferPointer) -> Bool {
    guard let record = DTLSRecord(datagram, at: 0) else { return false }
    return record.type == .changeCipherSpec || record.epoch > 0
  }

  private mutating func updateTimeout(now: Instant) {
    var left = timeval()
    guard let ssl, shim_DTLSv1_get_timeout(ssl, &left) == 1 else {
      nextTimeout = .never
      return
    }
    nextTimeout = now + .seconds(left.tv_sec) + .microseconds(left.tv_usec)
  }

  private mutating func end(_ outcome: Progress) -> Progress {
    progress = outcome
    release()
    return outcome
  }

  /// Frees OpenSSL's object, and with it the BIO, once.
  private mutating func release() {
    guard let ssl else { return }
    self.ssl = nil
    withExtendedLifetime(link) { SSL_free(ssl) }
  }
}

/// When an unanswered flight is repeated (RFC 6347 §4.2.4.1, with a shorter start: media is waiting and the
/// path was just checked).
enum DTLSTimeout {
  static let first: UInt32 = 50_000
  static let longest: UInt32 = 4_000_000

  /// - Parameter previous: microseconds; 0 for a new flight.
  static func next(after previous: UInt32) -> UInt32 {
    previous == 0 ? first : min(previous &* 2, longest)
  }
}
