/// An answer whose candidates are all one address.
package enum AnswerRewriting {
  /// - Parameters:
  ///   - answer: SDP.
  ///   - media: address and port.
  package static func withCandidate(_ media: (address: String, port: Int), _ answer: String) -> String {
    var lines: [Substring] = []
    var hasOne = false
    for line in answer.split(separator: "\r\n", omittingEmptySubsequences: true) {
      if line.hasPrefix("m=") { hasOne = false }
      guard line.hasPrefix("a=candidate:") else {
        lines.append(line)
        continue
      }
      guard !hasOne else { continue }
      hasOne = true
      lines.append("a=candidate:1 1 udp 2130706431 \(media.address) \(media.port) typ host")
    }
    return lines.joined(separator: "\r\n") + "\r\n"
  }
}
