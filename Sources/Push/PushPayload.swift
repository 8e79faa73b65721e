internal import AccessTokens
internal import Model

/// What a push carries: JSON that has all a locked phone needs, within what the push service takes.
///
/// Too long, the caller's name loses characters at its end, down to one; then the key is left out, which comes with the answer to
/// `join` as well, and the name has as many characters as fit once more.
public struct PushPayload: Equatable, Sendable {
  public let bytes: [UInt8]
  /// As much of the caller's name as is in it; nil: the notice has none.
  public let callerName: String?
  public let hasKey: Bool

  /// Bytes that a platform takes.
  public static func limit(_ platform: PushDevice.Platform) -> Int {
    // Apple takes less of an alert than of a VoIP push.
    platform == .apnsAlert ? 4_096 : 5_120
  }

  /// - Returns: nil where it is too long even with neither name nor key.
  public init?(_ notice: PushNotice, for device: PushDevice, texts: PushTexts = PushTexts()) {
    let key = notice.ring?.keys[device.id]
    if let key, let whole = Self(notice, key, device, texts),
      whole.callerName?.isEmpty != true || notice.callerName?.isEmpty == true
    {
      self = whole
    } else if let bare = Self(notice, nil, device, texts) {
      self = bare
    } else {
      return nil
    }
  }

  private init?(_ notice: PushNotice, _ key: [String: String]?, _ device: PushDevice, _ texts: PushTexts) {
    let platform = device.platform
    var notice = notice
    if let name = notice.callerName {
      notice.callerName = ""
      // The bytes of everything else.
      let rest = Self.json(notice, key, device, texts).utf8.count
      // An alert has it once to be read and once for the app.
      let copies = platform == .apnsAlert ? 2 : 1
      notice.callerName = Self.beginning(of: name, bytes: (Self.limit(platform) - rest) / copies)
    }
    let bytes = Array(Self.json(notice, key, device, texts).utf8)
    guard bytes.count <= Self.limit(platform) else { return nil }
    self.bytes = bytes
    callerName = notice.callerName
    hasKey = key != nil
  }

  // MARK: The name

  /// As many characters, as readers see them, as take so many bytes in JSON.
  private static func beginning(of text: String, bytes: Int) -> String {
    var left = bytes
    var end = text.startIndex
    while end < text.endIndex {
      let next = text.index(after: end)
      left -= text[end..<next].utf8.reduce(0) { $0 + size($1) }
      guard left >= 0 else { break }
      end = next
    }
    return String(text[..<end])
  }

  /// What a byte takes between the quotes of JSON, as `StrictJSON` writes it.
  private static func size(_ byte: UInt8) -> Int {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), 8, 9, 10, 12, 13: 2
    case ..<32: 6
    default: 1
    }
  }

  // MARK: The fields

  private static func json(
    _ notice: PushNotice, _ key: [String: String]?, _ device: PushDevice, _ texts: PushTexts
  ) -> String {
    var fields: [String: StrictJSON] = [
      "v": .number(1), "ringId": .string(notice.ringId), "callId": .string(notice.callId),
      "callerId": .string(notice.callerId), "media": .string(notice.media),
    ]
    let own: [(String, String?)] =
      switch notice.kind {
      case .ring(let ring):
        [
          ("type", "ring"), ("room", ring.room), ("token", ring.tokens[device.id]), ("url", ring.url),
          ("expiresAt", ring.expiresAt.text),
        ]
      case .ended(let reason): [("type", "ended"), ("reason", reason)]
      }
    for (name, text) in own + [("callerName", notice.callerName)] { fields[name] = text.map { .string($0) } }
    if notice.ring?.isBusy == true { fields["busy"] = .boolean(true) }
    fields["key"] = key.map { .object($0.mapValues { .string($0) }) }
    if key != nil {
      fields["keyFrom"] = notice.ring?.keyFrom.map { .string($0) }
      fields["keyIndex"] = notice.ring?.keyIndex.map { .number(Double($0)) }
    }
    fields["head"] = notice.ring?.head.map {
      .object(["size": .number(Double($0.size)), "root": .string($0.root)])
    }
    switch device.platform {
    case .apnsVoIP: fields["aps"] = .object([:])
    case .apnsAlert: fields["aps"] = alert(notice, texts)
    case .webhook: break
    }
    return StrictJSON.object(fields).text
  }

  /// What the phone itself shows: with a sound as long as it rings, silently in its place afterwards.
  private static func alert(_ notice: PushNotice, _ texts: PushTexts) -> StrictJSON {
    let line = StrictJSON.string(texts.line(notice))
    var fields: [String: StrictJSON] = [
      "alert": .object(notice.callerName.map { ["title": .string($0), "body": line] } ?? ["title": line])
    ]
    if notice.ring != nil {
      fields["sound"] = .string(texts.sound)
      fields["interruption-level"] = .string("time-sensitive")
    }
    return .object(fields)
  }
}
