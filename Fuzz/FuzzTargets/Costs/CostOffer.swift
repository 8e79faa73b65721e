/// A plain offer with so many sections, as a browser's looks without what is not needed.
struct CostOffer {
  /// Of each kind.
  var sends: Int
  var receives: Int

  var message: String {
    "{\"type\":\"offer\",\"sdp\":\"\(sdp.replacing("\r\n", with: "\\r\\n"))\"}"
  }

  var sdp: String {
    var sections: [String] = []
    for index in 0..<2 * (sends + receives) {
      let isAudio = index % 2 == 0
      sections.append(section(index, isAudio: isAudio, sends: index < 2 * sends))
    }
    let mids = (0..<sections.count).map { " \($0)" }.joined()
    return "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE\(mids)\r\n"
      + "a=ice-ufrag:abcd\r\na=ice-pwd:abcdefghijklmnopqrstuvwx\r\na=setup:actpass\r\n"
      + "a=fingerprint:sha-256 \(Array(repeating: "AB", count: 32).joined(separator: ":"))\r\n"
      + sections.joined()
  }

  private func section(_ mid: Int, isAudio: Bool, sends: Bool) -> String {
    (isAudio
      ? "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=rtpmap:111 opus/48000/2\r\n"
      : "m=video 9 UDP/TLS/RTP/SAVPF 96\r\na=rtpmap:96 VP8/90000\r\na=rtcp-fb:96 nack\r\n"
        + "a=rtcp-fb:96 nack pli\r\n")
      + "c=IN IP4 0.0.0.0\r\na=mid:\(mid)\r\na=rtcp-mux\r\na=\(sends ? "sendonly" : "recvonly")\r\n"
      + (sends ? "a=ssrc:\(mid + 1) cname:c\r\n" : "")
  }
}
