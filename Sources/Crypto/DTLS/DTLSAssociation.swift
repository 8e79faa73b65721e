public import Model

/// What remains of a handshake: keys for the media and our last flight. A plain value; OpenSSL's objects are
/// gone by the time it exists.
public struct DTLSAssociation: Equatable, Sendable {
  /// The least time between two repetitions of the last flight.
  public static let repeatInterval: Duration = .milliseconds(50)

  public let role: DTLSRole
  /// For what we send.
  public let localKeys: SRTPKeys
  /// For what we receive.
  public let remoteKeys: SRTPKeys
  /// The datagrams of our ChangeCipherSpec and Finished as server; empty as client, whose last flight is
  /// answered before the handshake is done.
  public let lastFlight: [[UInt8]]
  /// How the association ends, by either end; nil where only silence ends it.
  public let farewell: DTLSFarewell?
  private var lastRepeat: Instant?

  public var profile: SRTPProfile { localKeys.profile }

  /// - Precondition: both keys are of one profile.
  public init(
    role: DTLSRole, localKeys: SRTPKeys, remoteKeys: SRTPKeys, lastFlight: [[UInt8]],
    farewell: DTLSFarewell? = nil
  ) {
    precondition(localKeys.profile == remoteKeys.profile)
    self.role = role
    self.localKeys = localKeys
    self.remoteKeys = remoteKeys
    self.lastFlight = lastFlight
    self.farewell = farewell
  }

  /// What to do with a DTLS datagram that comes after the handshake.
  public enum LateAnswer: Equatable, Sendable {
    /// Send `lastFlight` again.
    case repeatLastFlight
    /// The far end has said that nothing more comes and that it wants nothing more (RFC 7675 §5.2).
    case closed
    case ignore(IgnoreReason)
  }

  public enum IgnoreReason: Equatable, Sendable, CaseIterable {
    case notDTLS
    /// A new handshake; an association is for life (RFC 8842 §4), a new one comes with a new description.
    case clientHello
    /// Handshake messages before the keys: repeated, or late.
    case handshakeInClear
    case alert
    case applicationData
    /// ChangeCipherSpec alone, heartbeats and the like.
    case other
    /// A Finished that we have nothing to answer with: we are the client.
    case nothingToRepeat
    /// Less than `repeatInterval` after the last repetition.
    case tooSoon
  }

  /// Decides from the record headers alone, but for alerts, which are opened. A far end that repeats its Finished has not got ours (RFC 6347
  /// §4.2.4); without the keys at hand that is an encrypted handshake record.
  public mutating func answerToLate(_ datagram: UnsafeRawBufferPointer, now: Instant) -> LateAnswer {
    guard DTLSRecord.looksLikeRecords(datagram) else { return .ignore(.notDTLS) }
    var offset = 0
    while let record = DTLSRecord(datagram, at: offset) {
      if record.type == .handshake, record.epoch > 0 { return answerToFinished(now: now) }
      if record.type == .alert {
        return farewell?.closes(datagram, record) == true ? .closed : .ignore(.alert)
      }
      offset = record.payload.upperBound
    }
    if DTLSRecord.isClientHello(datagram) { return .ignore(.clientHello) }
    return switch DTLSRecord(datagram, at: 0)?.type {
    case .handshake: .ignore(.handshakeInClear)
    case .applicationData: .ignore(.applicationData)
    default: .ignore(.other)
    }
  }

  private mutating func answerToFinished(now: Instant) -> LateAnswer {
    guard !lastFlight.isEmpty else { return .ignore(.nothingToRepeat) }
    if let lastRepeat, now - lastRepeat < Self.repeatInterval { return .ignore(.tooSoon) }
    lastRepeat = now
    return .repeatLastFlight
  }
}

extension DTLSAssociation {
  private static let version: UInt8 = 2
  private static let flightLimit = 16
  private static let datagramLimit = 2_048

  public func encode(into writer: inout StateWriter) {
    writer.write(Self.version)
    writer.write(role.rawValue)
    localKeys.encode(into: &writer)
    remoteKeys.encode(into: &writer)
    writer.write(UInt32(lastFlight.count))
    for datagram in lastFlight { writer.write(datagram) }
    writer.write(lastRepeat != nil)
    writer.write(lastRepeat ?? Instant(nanoseconds: 0))
    writer.write(farewell != nil)
    farewell?.encode(into: &writer)
  }

  public init(from reader: inout StateReader) throws(StateError) {
    let version = try reader.version("DTLS association", upTo: Self.version)
    guard let role = DTLSRole(rawValue: try reader.integer()) else {
      throw .invalid(field: "DTLS role", offset: reader.offset - 1)
    }
    self.role = role
    localKeys = try SRTPKeys(from: &reader)
    remoteKeys = try SRTPKeys(from: &reader)
    guard localKeys.profile == remoteKeys.profile else {
      throw .invalid(field: "SRTP profiles that differ", offset: reader.offset)
    }
    var flight: [[UInt8]] = []
    for _ in 0..<(try reader.count(limit: Self.flightLimit)) {
      flight.append(try reader.array(limit: Self.datagramLimit))
    }
    lastFlight = flight
    let repeated = try reader.bool()
    let moment = try reader.instant()
    lastRepeat = repeated ? moment : nil
    // Before the second version silence alone ended an association.
    let hasFarewell = version > 1 ? try reader.bool() : false
    farewell = hasFarewell ? try DTLSFarewell(from: &reader) : nil
  }
}
