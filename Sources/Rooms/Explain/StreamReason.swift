public import Model

/// Why a subscriber gets of a track what it gets: one reason, the first that holds.
public enum StreamReason: Equatable, Sendable {
  /// What a subscriber asked for that keeps its picture small.
  public enum View: Equatable, Sendable {
    case width(UInt16)
    case height(UInt16)
    case quality(PicturePreference.Quality)
    case frameRate(UInt8)
  }

  /// Nothing better is to be had.
  case best
  /// Nothing better comes from the publisher, although its subscriber would show more. The picture's lesser side; 0: not known.
  case publisher(String, lines: UInt16)
  /// The path to the subscriber has no room for better: bits per second.
  case bandwidth(Double)
  /// It would have by now, but had not a moment ago.
  case held(Double)
  case view(View)
  /// The subscriber wants nothing of it for now.
  case off
  case mutedByPublisher(String)
  case mutedByAdmin
  /// The publisher's packets have ceased to come, or never did.
  case noMedia(String)
  case noSlot
  case codec
  /// It can't go on before the publisher sends a key frame.
  case keyFrame(String)
  /// The subscriber's transport isn't up.
  case connecting
  /// The media plane did not answer in time.
  case unknown

  /// For programs.
  public var code: String {
    switch self {
    case .best: "best"
    case .publisher: "publisher"
    case .bandwidth, .held: "bandwidth"
    case .view: "view"
    case .off: "off"
    case .mutedByPublisher, .mutedByAdmin: "muted"
    case .noMedia: "no-media"
    case .noSlot: "no-slot"
    case .codec: "codec"
    case .keyFrame: "key-frame"
    case .connecting: "connecting"
    case .unknown: "unknown"
    }
  }

  /// Every `code`, in no order that means anything.
  public static let codes = [
    "best", "publisher", "bandwidth", "view", "off", "muted", "no-media", "no-slot", "codec", "key-frame",
    "connecting", "unknown",
  ]

  /// For people: one sentence, without a full stop.
  public var text: String {
    switch self {
    case .best: "this is the best there is"
    case .publisher(let name, let lines):
      lines > 0 ? "\(name) sends only \(lines)p" : "\(name) sends nothing better"
    case .bandwidth(let rate): "your connection carries \(Self.rate(rate))"
    case .held(let rate): "your connection carries \(Self.rate(rate)), and carried too little a moment ago"
    case .view(.width(let pixels)): "the tile is \(pixels) pixels wide"
    case .view(.height(let pixels)): "the tile is \(pixels) pixels high"
    case .view(.quality(let quality)): "\(quality) quality was asked for"
    case .view(.frameRate(let rate)): "\(rate) pictures a second were asked for"
    case .off: "turned off"
    case .mutedByPublisher(let name): "muted by \(name)"
    case .mutedByAdmin: "muted by an administrator"
    case .noMedia(let name): "nothing comes from \(name)"
    case .noSlot: "no free slot"
    case .codec: "the codec isn't one that you can play"
    case .keyFrame(let name): "waiting for the next key frame from \(name)"
    case .connecting: "the connection isn't up yet"
    case .unknown: "the server can't say at the moment"
    }
  }

  /// 64 kbit/s, 1.8 Mbit/s: rounded down, since it is what there is room for.
  static func rate(_ bits: Double) -> String {
    let kilobits = Int(min(max(bits, 0), 1e12) / 1_000)
    guard kilobits >= 1_000 else { return "\(kilobits) kbit/s" }
    let tenths = kilobits / 100
    return tenths % 10 == 0 ? "\(tenths / 10) Mbit/s" : "\(tenths / 10).\(tenths % 10) Mbit/s"
  }
}
