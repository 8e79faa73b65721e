/// A path as OpenAPI writes it, with names in braces: `/v1/rooms/{room}`.
struct PathTemplate: Sendable {
  private let segments: [Substring]

  init(_ path: String) { segments = path.split(separator: "/") }

  /// - Parameter given: a request's segments, decoded.
  /// - Returns: what stands in the places of the names in braces; nil: it is another path.
  func match(_ given: [String]) -> [String: String]? {
    guard given.count == segments.count else { return nil }
    var parameters: [String: String] = [:]
    for (segment, text) in zip(segments, given) {
      if segment.hasPrefix("{") {
        parameters[String(segment.dropFirst().dropLast())] = text
      } else if segment != text {
        return nil
      }
    }
    return parameters
  }
}
