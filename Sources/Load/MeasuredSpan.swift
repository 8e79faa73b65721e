/// What one measured span came to.
struct MeasuredSpan {
  /// Packets or pictures, each once.
  var sent = 0
  /// Those once for each subscriber that should get them.
  var expected = 0
  var arrived = 0
  var delay = LatencyHistogram()
  /// What of that is this machine's: from a picture's last packet until it was decoded.
  var decoding = LatencyHistogram()
  /// Pictures that this machine had no time to make or to decode.
  var missed = 0

  /// 0 to 1; all where nothing was expected.
  var loss: Double { expected > 0 ? Double(max(expected - arrived, 0)) / Double(expected) : 1 }
}
