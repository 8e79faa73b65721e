import Crypto
import Model

/// Records lie inside of the datagram, one behind the other, and what comes late is answered or ignored.
func fuzzDTLSRecord(_ input: UnsafeRawBufferPointer) {
  var offset = 0
  while let record = DTLSRecord(input, at: offset) {
    check(record.payload.lowerBound == offset + DTLSRecord.headerSize, "a payload follows its header")
    check(record.payload.upperBound <= input.count, "a record lies in the datagram")
    offset = record.payload.upperBound
  }
  check(
    DTLSRecord.looksLikeRecords(input) == (offset > 0 && offset == input.count),
    "a datagram of records ends with one")
  let now = Instant(nanoseconds: 0)
  // One whose far end has keys that no input can know.
  if var real = Handshake.association {
    check(real.answerToLate(input, now: now) != .closed, "what isn't the far end's closes nothing")
  }
  var association = DTLSAssociation(
    role: .server, localKeys: keys(.aeadAES128GCM), remoteKeys: keys(.aeadAES128GCM), lastFlight: [[20]])
  if case .repeatLastFlight = association.answerToLate(input, now: now) {
    check(
      association.answerToLate(input, now: now) == .ignore(.tooSoon), "a flight is repeated after a while")
  }
}

/// Bytes of a stranger open to nothing, under no profile, and leave no stream.
func fuzzSRTP(_ input: UnsafeRawBufferPointer) {
  for profile in SRTPProfile.preferred {
    guard var opener = try? SRTPOpener(keys: keys(profile), mappedLimit: 1) else { continue }
    for isReport in [false, true] {
      // Opening happens in place, in memory of the exact size.
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: input.count, alignment: 1)
      defer { copy.deallocate() }
      copy.copyMemory(from: input)
      let size = try? isReport ? opener.openRTCP(copy) : opener.openRTP(copy)
      check(size == nil, "what isn't sealed doesn't open")
    }
    check(opener.streamCount == 0, "what doesn't open leaves no stream")
  }
}

/// Keys that no input can be sealed with but by chance.
private func keys(_ profile: SRTPProfile) -> SRTPKeys {
  SRTPKeys(
    profile: profile, masterKey: (0..<profile.keySize).map { UInt8($0 ^ 0xA5) },
    masterSalt: (0..<profile.saltSize).map { UInt8($0 ^ 0x5A) })
}

/// What a handshake leaves at a server, made once.
private enum Handshake {
  static let association: DTLSAssociation? = {
    guard let certificate = try? DTLSCertificate(notBefore: 0, notAfter: 4_000_000_000),
      let context = try? DTLSContext(certificate: certificate)
    else { return nil }
    let now = Instant(nanoseconds: 0)
    let expected = [certificate.fingerprint(.sha256)]
    var server = DTLSHandshake(context: context, role: .server, expecting: expected, now: now)
    var client = DTLSHandshake(context: context, role: .client, expecting: expected, now: now)
    _ = client.start(now: now)
    for _ in 0..<4 {
      while let datagram = client.nextDatagram() {
        datagram.withUnsafeBytes { _ = server.receive($0, now: now) }
      }
      while let datagram = server.nextDatagram() {
        datagram.withUnsafeBytes { _ = client.receive($0, now: now) }
      }
    }
    guard case .connected(let association) = server.progress else { return nil }
    check(association.farewell != nil, "a handshake leaves what ends it")
    return association
  }()
}
