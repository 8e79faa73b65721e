internal import AccessTokens
internal import CallDesk
internal import Calls
internal import HTTPServer

/// Where a page of a list goes on, as `next` and `before` have it: some parts, each on a line of its own. None has the end of a line in
/// it: they are numbers, ids, and names without control characters.
enum PageText {
  static func text(_ parts: [String]) -> String {
    Base64URL.encode(Array(parts.joined(separator: "\n").utf8))
  }

  /// - Parameter count: of parts.
  /// - Returns: nil: it isn't of so many.
  static func parts(of text: String, _ count: Int) -> [String]? {
    guard let bytes = Base64URL.decode(text.utf8), String(validating: bytes, as: UTF8.self) != nil else {
      return nil
    }
    let parts = bytes.split(
      separator: UInt8(ascii: "\n"), maxSplits: count, omittingEmptySubsequences: false)
    return parts.count == count ? parts.map { String(decoding: $0, as: UTF8.self) } : nil
  }
}

extension CallDoor {
  /// What `before` says.
  /// - Parameter read: nil for what is no such place.
  /// - Returns: nil: the list is asked for from its beginning.
  func place<Place>(_ call: CallRequest, _ read: (String) -> Place?) throws(RESTProblem) -> Place? {
    guard let text = call.request.queryItem("before") else { return nil }
    guard let place = read(text) else { throw .query("before must be the next of an earlier page") }
    return place
  }
}

extension DevicePage.Place {
  var text: String { PageText.text(["\(registered)", id.text]) }

  init?(_ text: String) {
    guard let parts = PageText.parts(of: text, 2), let registered = Int64(parts[0]) else { return nil }
    self.init(registered: registered, id: DeviceID(parts[1]))
  }
}

extension BlockPage.Place {
  var text: String { PageText.text(["\(time)", person.text]) }

  init?(_ text: String) {
    guard let parts = PageText.parts(of: text, 2), let time = Int64(parts[0]) else { return nil }
    self.init(time: time, person: PersonID(parts[1]))
  }
}

extension CallDeliveries.Place {
  var text: String { PageText.text(["\(time)", person.text, device.text, ring.text, kind.rawValue]) }

  init?(_ text: String) {
    guard let parts = PageText.parts(of: text, 5), let time = Int64(parts[0]),
      let ring = CallUUID(parts[3]), let kind = CallDelivery.Kind(rawValue: parts[4])
    else { return nil }
    self.init(
      time: time, person: PersonID(parts[1]), device: DeviceID(parts[2]), ring: ring, kind: kind)
  }
}
