// libmicrohttpd's header brings `<sys/socket.h>` along, as Glibc does, and the compiler takes these names for the one's or
// the other's: a file that names them has to import both.
internal import CMicroHTTPD
internal import Glibc

/// Flags of `recv` and `send`, and what `shutdown` shuts.
enum SocketFlags {
  /// `EAGAIN` instead of waiting.
  static let dontWait = Int32(MSG_DONTWAIT)
  /// What waits is looked at and stays.
  static let peek = Int32(MSG_PEEK)
  /// `EPIPE` alone, without the signal.
  static let noSignal = Int32(MSG_NOSIGNAL)
  static let more = Int32(MSG_MORE)
  static let reading = Int32(SHUT_RD)
  static let writing = Int32(SHUT_WR)
  static let both = Int32(SHUT_RDWR)
}
