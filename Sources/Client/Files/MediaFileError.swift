package import Containers

/// Why a file can't be published.
package enum MediaFileError: Error, Equatable, Sendable {
  /// As the system says it.
  case unreadable(String)
  case unknownFormat
  case invalid(ContainerError)
  /// It has nothing of a codec that can be sent; the names of those that it has instead.
  case noTrack(others: [String])
  /// It ends before its first frame.
  case empty
  /// A signal came before its first frame.
  case interrupted
}
