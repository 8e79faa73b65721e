package import Recording
package import Signalling
package import WebSocketClient

/// Why a session at a server did not come about, or ended before it was to.
package enum ClientError: Error, Equatable, Sendable {
  /// No WebSocket came about.
  case unreachable(WebSocketClientError)
  /// The server said so, and why.
  case refused(SignallingErrorCode, message: String)
  /// What the server sent is none of Roost's messages.
  case notRoost(String)
  /// Nothing of the media came through within so many seconds.
  case noMedia(seconds: Int)
  /// The connection, or the media's path, is gone.
  case connectionLost(String)
  /// None of the tracks can be published: the server declined their sections by this word.
  case declined(codec: String, word: String)
  /// The token doesn't allow to get anything.
  case maySubscribeToNothing
  /// The file that is published can't be read on.
  case file(MediaFileError)
  /// Files of a recording can't be written in that folder.
  case folder(String, FileProblem)
  /// On this machine.
  case system(String)
}
