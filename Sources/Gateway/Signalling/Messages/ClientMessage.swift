internal import AccessTokens
package import Rooms

/// A message from a client of the native door.
package struct ClientMessage: Equatable, Sendable {
  package enum Content: Equatable, Sendable {
    case auth(token: String)
    case resume(token: String, after: Int)
    case offer(SessionOffer)
    case candidate(String, mid: String)
    case subscribe(track: String, mid: String?)
    case unsubscribe(track: String)
    case mute(track: String, muted: Bool)
    case update(ParticipantChange)
    case data(OutgoingMessage)
    case leave
    case ping
    /// A type that isn't known here: done is nothing, so that newer clients can speak to older servers.
    case unknown(type: String)
  }

  package var id: RequestID?
  package var content: Content

  static let maximumSDPBytes = 262_144
  static let maximumTracks = 64
  static let maximumMetadataBytes = 65_536
  static let maximumAttributes = 256
  /// Base64 of 16 KiB.
  static let maximumPayloadBytes = 21_848
  static let maximumDestinations = 256
}

/// Why a message isn't one; `field` is the first that is wrong.
package enum ClientMessageError: Error, Equatable, Sendable {
  case notJSON
  case field(String, FieldProblem, id: RequestID?)
  /// Understood by later versions; ignoring it would not be what was asked for.
  case unsupported(String, id: RequestID?)

  /// What is wrong with a field.
  package enum FieldProblem: Equatable, Sendable {
    case missing
    /// More than so many bytes, or of a list items.
    case tooLong(Int)
    /// What it is instead.
    case expected(String)

    package func description(of field: String) -> String {
      switch self {
      case .missing: "\(field) is missing"
      case .tooLong(let bound): "\(field) is too long; it has at most \(bound)"
      case .expected(let what): "\(field) is not \(what)"
      }
    }
  }
}

extension ClientMessage {
  /// Reads the type first, and then that type's fields alone, each within its bound.
  package init(json: String) throws(ClientMessageError) {
    var json = json
    let result = json.withUTF8 { bytes -> Result<ClientMessage, ClientMessageError> in
      do throws(ClientMessageError) { return .success(try ClientMessage(bytes)) } catch {
        return .failure(error)
      }
    }
    self = try result.get()
  }

  private init(_ bytes: UnsafeBufferPointer<UInt8>) throws(ClientMessageError) {
    guard let fields = JSONFields(bytes) else { throw .notJSON }
    var id: RequestID?
    if let value = fields.value("id") {
      id = RequestID(value)
      guard id != nil else {
        throw .field("id", .expected("a number or a string of 1 to \(RequestID.maximumBytes) bytes"), id: nil)
      }
    }
    let reader = FieldReader(fields, id: id)
    let type = try reader.text("type", 64)
    self.id = id
    content = try Self.content(type, reader)
  }

  private static func content(_ type: String, _ reader: FieldReader) throws(ClientMessageError) -> Content {
    switch type {
    // Its own length is the token's to judge.
    case "auth": return .auth(token: try reader.text("token", AccessToken.maximumRenewedBytes + 1))
    case "resume":
      return .resume(token: try reader.text("resumeToken", 128), after: try reader.natural("after"))
    case "offer": return .offer(try reader.offer())
    case "candidate":
      // Browsers say null or "" for "of the whole bundle".
      return .candidate(try reader.text("candidate", 1_024), mid: try reader.optionalText("mid", 32) ?? "")
    case "subscribe":
      for name in ["quality", "maxWidth", "maxHeight", "maxFrameRate", "priority"] where reader.has(name) {
        throw .unsupported(name, id: reader.id)
      }
      return .subscribe(track: try reader.track(), mid: try reader.optionalText("mid", 32))
    case "unsubscribe": return .unsubscribe(track: try reader.track())
    case "mute": return .mute(track: try reader.track(), muted: try reader.flag("muted"))
    case "update": return .update(try reader.change())
    case "data": return .data(try reader.message())
    case "leave": return .leave
    case "ping": return .ping
    default: return .unknown(type: type)
    }
  }
}
