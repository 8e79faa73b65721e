internal import Model

/// By format: a subscriber's payload types, 255 where it lacks the codec; and whether it may ask again.
struct OutgoingFormats: BitwiseCopyable {
  var payloadTypes: InlineArray<32, UInt8> = InlineArray(repeating: 255)
  var rtxPayloadTypes: InlineArray<32, UInt8> = InlineArray(repeating: 255)
  /// One of the retransmission stream's, under which padding goes; 255: there is none.
  var paddingPayloadType: UInt8 = 255
  var nack: UInt32 = 0

  init() {}

  init(_ section: SendSection) {
    for number in 0..<UInt8(CodecFormat.limit) {
      guard let format = CodecFormat(rawValue: number), let codec = section.codec(taking: format) else {
        continue
      }
      payloadTypes[Int(number)] = codec.payloadType
      rtxPayloadTypes[Int(number)] = codec.rtxPayloadType ?? 255
      if paddingPayloadType == 255 { paddingPayloadType = codec.rtxPayloadType ?? 255 }
      if codec.nack { nack |= 1 << UInt32(number) }
    }
  }
}
