internal import AccessTokens
internal import CallDesk
internal import Calls

/// Tokens that open one call, and no more: the server makes them, by the key that signed the starter's.
struct CallTokens: Sendable {
  /// Seconds for which one that isn't of a push holds.
  static let lifetime = 6 * 3_600
  /// Seconds beyond the end of a ring for which a push's holds.
  static let ringGrace = 60

  /// Secrets by API key.
  let keys: [String: String]
  /// Seconds since 1970.
  let now: @Sendable () -> Int

  /// For a person who is in the call by that device.
  /// - Returns: nil: the key that signed the starter's token is none of ours any more.
  func token(
    for person: PersonID, name: String?, device: DeviceID?, of call: CallUUID, room: String, apiKey: String
  ) -> String? {
    make(person, name, device, call, room, apiKey, expires: now() + Self.lifetime)
  }

  /// For one who is rung until that moment.
  /// - Parameters:
  ///   - device: which it is for.
  ///   - until: milliseconds since 1970.
  func token(
    ringing person: PersonID, _ name: String?, _ device: DeviceID, until: Int64, of call: CallUUID,
    room: String,
    apiKey: String
  ) -> String? {
    make(person, name, device, call, room, apiKey, expires: Int(until / 1_000) + Self.ringGrace)
  }

  private func make(
    _ person: PersonID, _ name: String?, _ device: DeviceID?, _ call: CallUUID, _ room: String,
    _ apiKey: String,
    expires: Int
  ) -> String? {
    guard let secret = keys[apiKey] else { return nil }
    return AccessToken(
      apiKey: apiKey, identity: person.text, expires: expires, issuedAt: now(), name: name.map(Self.plain),
      grants: .join(room), call: CallClaim(id: call.text, device: device?.text)
    ).signed(secret: secret)
  }

  /// A name with blanks for control characters, each of which takes eight bytes of a token: a push that is for an alert has no room for a
  /// token with many.
  private static func plain(_ name: String) -> String {
    guard name.utf8.contains(where: { $0 < 0x20 }) else { return name }
    return String(decoding: name.utf8.map { $0 < 0x20 ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
  }
}

extension AccessToken {
  /// Of the person's, by which it comes into the room of a call. One that the server hasn't made says of none: by the same token, and by those
  /// that are renewed from it, it is the same device that comes again, by whichever door, and by each other token it is another one.
  /// nil: it wasn't read.
  var deviceName: String? { call?.device ?? device.map { DeviceID(ofToken: $0).text } }
}

extension Caller {
  /// Whom a token stands for. One of a call, which the server makes, says nothing of when its person was given one by the app.
  init(_ token: AccessToken) {
    var issued: Int64?
    if token.call == nil, let seconds = token.effectiveIssue {
      let (milliseconds, overflow) = Int64(seconds).multipliedReportingOverflow(by: 1_000)
      issued = overflow ? nil : milliseconds
    }
    self.init(
      PersonID(token.identity ?? ""), name: token.name, device: token.call?.device.map { DeviceID($0) },
      apiKey: token.apiKey, issuedAt: issued)
  }
}
