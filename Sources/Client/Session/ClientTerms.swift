package import HTTPClient

/// Where a session is to be, and as whom.
package struct ClientTerms: Sendable {
  /// Of the server, with nothing behind its port.
  package var server: HTTPURL
  package var room: String
  /// An access token that lets its bearer in.
  package var token: String
  /// Whether any certificate is believed.
  package var isInsecure: Bool
  /// A PEM file with the authorities that are believed; nil: those of the system.
  package var authorities: String?
  /// Where media goes instead of where the server says; nil: there.
  package var media: (address: String, port: Int)?

  package init(
    server: HTTPURL, room: String, token: String, isInsecure: Bool = false, authorities: String? = nil,
    media: (address: String, port: Int)? = nil
  ) {
    self.server = server
    self.room = room
    self.token = token
    self.isInsecure = isInsecure
    self.authorities = authorities
    self.media = media
  }
}
