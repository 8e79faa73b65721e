internal import Model

/// What payload types mean in a section, as media or as retransmission.
struct ReceivedFormats: BitwiseCopyable {
  /// By payload type: the format that it means, and what it retransmits; 255 for none.
  private var formats: InlineArray<128, UInt8> = InlineArray(repeating: 255)
  private var originals: InlineArray<128, UInt8> = InlineArray(repeating: 255)

  init() {}

  init(_ section: ReceiveSection) {
    for codec in section.codecs where codec.payloadType < 128 {
      formats[Int(codec.payloadType)] = codec.format.rawValue
      if let rtx = codec.rtxPayloadType, rtx < 128 { originals[Int(rtx)] = codec.payloadType }
    }
  }

  /// The format of a payload type of media.
  @inline(__always)
  subscript(payloadType: UInt8) -> CodecFormat? {
    payloadType < 128 ? CodecFormat(rawValue: formats[Int(payloadType)]) : nil
  }

  /// The payload type that is retransmitted under this one; 255 for none.
  @inline(__always)
  func original(of payloadType: UInt8) -> UInt8 { originals[Int(payloadType & 0x7F)] }

  func format(of payloadType: UInt8) -> (format: CodecFormat, isRTX: Bool)? {
    if let format = self[payloadType & 0x7F] { return (format, false) }
    return self[original(of: payloadType)].map { ($0, true) }
  }
}

/// How a publisher can be asked for what is missing, by any of a section's codecs.
struct FeedbackTerms: BitwiseCopyable {
  private(set) var nack = false
  private(set) var pli = false
  private(set) var fir = false
  private(set) var estimate = false

  init() {}

  init(_ section: ReceiveSection) {
    for codec in section.codecs where codec.payloadType < 128 {
      nack = nack || codec.nack
      pli = pli || codec.pli
      fir = fir || codec.fir
      estimate = estimate || codec.remb
    }
  }

  var asksForKeyFrames: Bool { pli || fir }
}
