internal import Congestion
internal import Engine
internal import Model
internal import Rooms
internal import Signalling

/// Why participants get what they get, as it goes over the wire, in REST and in native signalling.
extension TransportReport {
  init(_ media: PeerExplanation) {
    self.init()
    target = media.target.map(Self.whole)
    estimated = media.acknowledged.map(Self.whole)
    allotted = Self.whole(media.allotted)
    wanted = Self.whole(media.wanted)
    next = media.next.map(Self.whole)
    loss = media.loss.rounded(to: 10_000)
    roundTrip = media.roundTrip.inSeconds.rounded(to: 1_000)
    probe = media.probe.map { Self.whole($0.rate) }
    isProbing = media.probe?.isOpen ?? false
  }

  static func whole(_ rate: Double) -> Int { Int(min(max(rate, 0), 1e15)) }
}

extension ExplainedStream {
  /// - Parameter own: it is for this participant's own client, which hears nothing of hidden ones; nil: for an administrator.
  init(_ subscription: SubscriptionExplanation, own: ParticipantID? = nil) {
    self.init()
    track = subscription.track.id.text
    publisher = subscription.publisher.id.text
    state = StreamBody(subscription.track.id, subscription.state).state
    reason = StreamReasonWord(rawValue: subscription.reason.code) ?? .unknown
    text = subscription.reason.text
    wanted = subscription.wanted.map { WantedPicture($0) }
    keyFrame = subscription.keyFrame?.text
    keyFrameRequest = subscription.request.map { ExplainedRequest($0, own: own) }
    guard let media = subscription.media else { return }
    sent = media.sent.map { SentLayer($0, rid: subscription.rid) }
    bitrate = media.bitrate.map(TransportReport.whole)
    loss = media.loss.rounded(to: 10_000)
    roundTrip = media.roundTrip?.inSeconds.rounded(to: 1_000)
  }
}

extension ServerMessage.Explanation {
  /// - Parameter transport: the client's own; others of the participant are not for it.
  init(_ found: ParticipantExplanation, on transport: TransportID?) {
    let own = found.transports.first { $0.id == transport }
    self.init(
      transport: own?.media.map { TransportReport($0) },
      subscriptions: found.subscriptions.filter { $0.transport == transport }
        .map { ExplainedStream($0, own: found.id) })
  }
}

extension ServerMessage.Explanation {
  /// What making it and sending it counts as, in bytes.
  var cost: Int { 256 + 512 * subscriptions.count }
}

extension SentLayer {
  init(_ option: LayerOption, rid: String?) {
    self.init()
    encoding = Int(option.encoding)
    self.rid = rid
    spatial = Int(option.spatial)
    temporal = Int(option.temporal)
    width = option.width > 0 ? Int(option.width) : nil
    height = option.height > 0 ? Int(option.height) : nil
    frameRate = option.frameRate > 0 ? Int(option.frameRate) : nil
  }
}

extension ExplainedRequest {
  init(_ request: SubscriptionExplanation.Request, own: ParticipantID?) {
    switch request.asker {
    case .server: self.init(at: request.at.text, by: .server)
    case .other: self.init(at: request.at.text, by: .other)
    case .participant(let name, let isHidden):
      #if PLANTED_DEFECTS
        let mayBeNamed = PlantedDefect.isOn(.explainsHidden) || own == nil || !isHidden || own == name.id
      #else
        let mayBeNamed = own == nil || !isHidden || own == name.id
      #endif
      if mayBeNamed {
        self.init(at: request.at.text, by: .participant, participant: name.id.text)
      } else {
        self.init(at: request.at.text, by: .other)
      }
    }
  }
}

extension Double {
  /// To so many parts of one: what is known is no finer, and what is said is short.
  fileprivate func rounded(to parts: Double) -> Double { (self * parts).rounded() / parts }
}

extension Duration {
  fileprivate var inSeconds: Double { Double(wholeNanoseconds) / 1e9 }
}
