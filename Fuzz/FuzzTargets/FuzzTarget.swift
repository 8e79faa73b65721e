/// A parser under attack: takes any bytes, and traps if it finds one of its promises broken.
public struct FuzzTarget: Sendable {
  /// Also the name of its folder in Fuzz/Corpus.
  public let name: String
  public let run: @Sendable (UnsafeRawBufferPointer) -> Void
  /// How many mutations of its corpus the tests run; fewer where each takes long.
  public let mutations: Int

  init(name: String, mutations: Int = 2_000, run: @escaping @Sendable (UnsafeRawBufferPointer) -> Void) {
    self.name = name
    self.mutations = mutations
    self.run = run
  }
}

/// All of them. A new one is a function here and a folder with at least one valid message in Fuzz/Corpus.
public let fuzzTargets: [FuzzTarget] = [
  FuzzTarget(name: "socket-address", run: fuzzSocketAddress),
  FuzzTarget(name: "state", run: fuzzState),
  FuzzTarget(name: "rtp", run: fuzzRTP),
  FuzzTarget(name: "vp8", run: fuzzVP8),
  FuzzTarget(name: "vp9", run: fuzzVP9),
  FuzzTarget(name: "h264", run: fuzzH264),
  FuzzTarget(name: "h265", run: fuzzH265),
  FuzzTarget(name: "av1", run: fuzzAV1),
  FuzzTarget(name: "red", run: fuzzRED),
  FuzzTarget(name: "dependency-descriptor", run: fuzzDependencyDescriptor),
  FuzzTarget(name: "video-layers-allocation", run: fuzzVideoLayersAllocation),
  FuzzTarget(name: "h264-parameter-set", run: fuzzH264ParameterSet),
  FuzzTarget(name: "h265-parameter-set", run: fuzzH265ParameterSet),
  FuzzTarget(name: "track-receiver", run: fuzzTrackReceiver),
  FuzzTarget(name: "packet-info", run: fuzzPacketInfo),
  FuzzTarget(name: "rtcp", run: fuzzRTCP),
  FuzzTarget(name: "transport-feedback", run: fuzzTransportFeedback),
  FuzzTarget(name: "arrival-feedback", run: fuzzArrivalFeedback),
  FuzzTarget(name: "arrival-feedback-state", run: fuzzArrivalFeedbackState),
  FuzzTarget(name: "stream-feedback", run: fuzzStreamFeedback),
  FuzzTarget(name: "stun", run: fuzzSTUN),
  FuzzTarget(name: "server-agent", run: fuzzServerAgent),
  FuzzTarget(name: "controlling-agent", run: fuzzControllingAgent),
  FuzzTarget(name: "ice-state", run: fuzzICEState),
  FuzzTarget(name: "sdp", run: fuzzSDP),
  FuzzTarget(name: "negotiator", run: fuzzNegotiator),
  FuzzTarget(name: "peer-state", run: fuzzPeerState),
  FuzzTarget(name: "worker-state", mutations: 500, run: fuzzWorkerState),
  FuzzTarget(name: "room-state", mutations: 500, run: fuzzRoomState),
  FuzzTarget(name: "record", run: fuzzRecord),
  FuzzTarget(name: "dtls-record", run: fuzzDTLSRecord),
  FuzzTarget(name: "srtp", run: fuzzSRTP),
  FuzzTarget(name: "access-token", run: fuzzAccessToken),
  FuzzTarget(name: "client-message", run: fuzzClientMessage),
  FuzzTarget(name: "peer", mutations: 200, run: fuzzPeer),
  FuzzTarget(name: "workers", mutations: 200, run: fuzzWorkers),
  FuzzTarget(name: "request", mutations: 500, run: fuzzRequest),
  FuzzTarget(name: "call-request", mutations: 300, run: fuzzCallRequest),
  FuzzTarget(name: "opaque-json", run: fuzzOpaqueJSON),
  FuzzTarget(name: "call-state", run: fuzzCallState),
  FuzzTarget(name: "session-state", run: fuzzSessionState),
  FuzzTarget(name: "key-log", run: fuzzKeyLog),
  FuzzTarget(name: "websocket-frames", run: fuzzWebSocketFrames),
  FuzzTarget(name: "candidate", run: fuzzCandidate),
  FuzzTarget(name: "ice-fragment", run: fuzzICEFragment),
  FuzzTarget(name: "base64url", run: fuzzBase64URL),
  FuzzTarget(name: "strict-json", run: fuzzStrictJSON),
  FuzzTarget(name: "event-cursor", run: fuzzEventCursor),
  FuzzTarget(name: "event-id", run: fuzzEventID),
  FuzzTarget(name: "ivf", run: fuzzIVF),
  FuzzTarget(name: "ogg-opus", run: fuzzOggOpus),
  FuzzTarget(name: "matroska", run: fuzzMatroska),
  FuzzTarget(name: "file-source", mutations: 200, run: fuzzFileSource),
  FuzzTarget(name: "frames", run: fuzzFrames),
  FuzzTarget(name: "packetizer", run: fuzzPacketizer),
  FuzzTarget(name: "codec-configuration", run: fuzzConfiguration),
  FuzzTarget(name: "event-stream", run: fuzzEventStream),
  FuzzTarget(name: "push-answer", run: fuzzPushAnswer),
  FuzzTarget(name: "push-payload", mutations: 500, run: fuzzPushPayload),
  FuzzTarget(name: "terminal-text", run: fuzzTerminalText),
  FuzzTarget(name: "encoded-stream", run: fuzzEncodedStream),
  FuzzTarget(name: "vp8-decoder", mutations: 500, run: fuzzVP8Decoder),
  FuzzTarget(name: "opus-decoder", mutations: 500, run: fuzzOpusDecoder),
]

/// Traps with the promise that was broken.
func check(_ holds: Bool, _ promise: StaticString, line: UInt = #line, file: StaticString = #file) {
  precondition(holds, "\(promise)", file: file, line: line)
}

/// Runs `body` on a buffer of `capacity` bytes and returns the first ones, as many as it says; nil if it says nil.
func written(_ capacity: Int, _ body: (UnsafeMutableRawBufferPointer) -> Int?) -> [UInt8]? {
  // Of the exact size, so that the address sanitizer sees a write behind it.
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 1)
  defer { buffer.deallocate() }
  guard let size = body(buffer) else { return nil }
  check(size >= 0 && size <= capacity, "no writer says more than it has room for")
  return Array(buffer[..<size])
}
