/// Something that a simulation wants to have happened, counted over all seeds: a mechanism that never fired was
/// not tested.
public enum Mechanism: Int, CaseIterable, Sendable {
  case connected
  case handshakeAsServer
  case adoption
  case handover
  case relay
  case packetForwarded
  /// A sink, which is no participant, got packets of a track; a key frame and a packet again that it had asked for.
  case sinkFed
  case sinkKeyFrame
  case sinkRepeated
  case packetLost
  case packetDuplicated
  case packetReordered
  case serverNACK
  case serverRTX
  case subscriberNACK
  case subscriberRTX
  case repeatedSealed
  case pli
  case keyFrame
  /// A subscriber began with a key frame that had come before it; two packets of what came behind that were compared.
  case pictureReplay
  case pastDrawn
  case rollover
  case numbersSkipped
  case sourceRestart
  case sourceChangedSSRC
  case addressChange
  /// Of a peer that nominates once.
  case unnominatedChange
  case workerChange
  case interfaceChange
  case outage
  case iceRestart
  case replacement
  /// Of a worker by one from its state.
  case workerReplacement
  /// Of every room by one from its bytes.
  case roomReplacement
  case renegotiation
  case sourceSwitch
  case speakerSwitch
  case unsubscription
  case join
  case leave
  case vanish
  case spoofedCheck
  case lipSyncChecked
  /// With a publisher's clock that is 50 ppm off; with its sound per cents slow; within two seconds of the slot
  /// getting another source.
  case lipSyncDrifting
  case lipSyncSlowSound
  case lipSyncAfterSwitch
  case lipSyncAfterClockChange
  case feedbackChecked
  /// Feedback behind a report and a name, to those who did not agree to less.
  case compoundFeedback
  case trackMuted
  case codecChange
  /// Of codecs with different clocks.
  case clockChange
  /// A participant hears that it lacks the codec of a track.
  case codecMissing
  /// What a publisher had heard of codecs was held against what those present have offered; it heard of fewer, and of one again.
  case codecsJudged
  case codecTakenAway
  case codecNamedAgain
  case silence
  case redForwarded
  /// Opus came in RED to a subscriber that loses packets.
  case redAdded
  /// To who has no RED.
  case redUnwrapped
  case vp9Forwarded
  case h264Forwarded
  case h265Forwarded
  case av1Forwarded
  case pcmuForwarded
  case g722Forwarded
  case dependencyForwarded
  /// It needs the two-byte form, and its subscriber doesn't take that.
  case dependencyLeftOut
  /// A time of capture, on the server's time line.
  case captureTimeForwarded
  case payloadTypeMapped
  case heavyMedia
  case fourWorkers
  /// A participant came while others were in another room.
  case otherRoom
  /// By its publisher.
  case muted
  case signallingCut
  /// The new socket broke before the server had heard anything on it, or soon after.
  case signallingCutTwice
  case signallingResumed
  /// A socket broke while a request had no answer.
  case requestInFlight
  /// A request was sent again on another socket.
  case requestRepeated
  /// By another one, before the server knew that it had gone.
  case socketReplaced
  case sessionTimedOut
  /// A client came back to a session that was over.
  case sessionGone
  case duplicateIdentity
  case removed
  /// By a token of before a removal, or while the server drained.
  case joinRefused
  /// Nothing came on the way of media for ten seconds.
  case mediaSilent
  /// What a client believed of the room was compared with the room.
  case pictureCompared
  case roomClosed
  case drain
  /// A participant was in until the deadline.
  case drainDeadline
  /// A client heard that its session was over.
  case farewell
  /// A participant had no section left.
  case mediaEnded
  /// By an administrator.
  case permissionsChanged
  /// Others came by its token in the very moment of a removal.
  case removalRaced
  /// A participant began with less than all rights; hidden.
  case restrictedToken
  case hiddenParticipant
  /// A token was renewed.
  case tokenRenewed
  /// A section was declined because its owner may not publish what it says.
  case publicationDeclined
  case trackStopped
  case trackAdded
  /// A track went on being sent after its section had been stopped.
  case stopIgnored
  /// Held against who may do what.
  case packetAllowed
  case messageAllowed
  /// A participant had fewer slots than there were tracks, and which got them was compared with the rule.
  case fairnessJudged
  /// A participant with good keys sent what it liked; and how often.
  case hostileSource
  case hostileAct
  /// The stream of a slot went on from one that was hostile to one that is not.
  case hostileTakenOver
  /// A track was unmuted, and a key frame asked for at once.
  case unmuteAsked
  /// A participant without a socket publishes by one transport and plays by another, both connected.
  case separateTransports
  /// It has answered an offer of the server's.
  case serverOffer
  /// A publisher sends several encodings, or one in spatial layers; its frames are encrypted end to end.
  case simulcast
  /// Its streams are tied together by their SSRCs, and have no names.
  case simulcastBySSRC
  case spatialLayers
  case encryptedFrames
  /// An encoding never came; it began late, or stopped and came back.
  case encodingMissing
  case encodingInterrupted
  /// A key frame of one of several encodings was asked for.
  case encodingKeyFrame
  /// `publish` had an encoding go off, and come again.
  case encodingUnwatched
  case encodingWatched
  /// A slot went on to another encoding, up and down.
  case encodingUp
  case encodingDown
  /// A slot took a layer up, or gave it up.
  case layersChanged
  /// A slot began again after a break.
  case pictureResumed
  /// A subscriber said how it shows what it gets.
  case viewChanged
  /// The path of a subscriber got another rate.
  case pathChanged
  /// Packets that show nothing, to see what a path carries.
  case probePacket
  /// A packet waited in vain before a path that is full.
  case pathOverflow
  /// A picture was held against all that it refers to.
  case pictureDecoded
  /// Windows of two seconds were held against the path's rate; what was shown, against the best that it carries.
  case budgetJudged
  /// In a meeting: a window of two seconds above the path's rate.
  case budgetOver
  case choiceJudged
  /// The second was less than the best; and more switches in a minute than are wanted.
  case choiceBelowBest
  case switchesOver
  /// An encoding that was asked for again was seen within 1.5 s; later; one without viewers is sent on.
  case encodingReturned
  case encodingLate
  case encodingStaysOn
  /// A viewer heard that its path has no room for a track.
  case pauseHeard
  /// A viewer's picture stood still for more than a second, with nothing changed that would explain it.
  case pictureFroze
  /// An encoding stopped that a viewer was shown, and another stood in.
  case stopBridged
  /// Two seconds of a viewer's sound were held against its path: more was lost than that loses by itself; a packet in twenty waited for a
  /// tenth of a second before it.
  case soundJudged
  case soundLost
  case soundWaited
  /// A picture was looked at while another viewer changed what it wants, or an encoding went on or off; it stood still.
  case stillJudged
  case stoodStill
  /// In a meeting: two seconds of a viewer whose path carries so many pictures; fewer moved; one stood still for a second at the far end.
  case movingJudged
  case pictureLacking
  case tileFroze
  /// Of several jobs of the control plane that were ready the seed chose one.
  case jobReordered
  /// In a conference of calls: a call was started; two people rang each other at once, and their calls became one.
  case callStarted
  case callMerged
  /// A person joined a call; moved it to another device; rejected it; left it.
  case callJoined
  case callTakenOver
  case callRejected
  case callLeft
  /// Others were rung; one who had blocked who rang heard nothing of it.
  case callInvited
  case blockedRing
  /// A ring or who was in a call was waited for in vain; somebody was taken out; a call was over; one who runs its room ended it.
  case callTimedOut
  case callPersonRemoved
  case callEnded
  case callEndedByAdmin
  case callChanged
  case callForgotten
  /// A call or what was pushed for it was read; a history was.
  case callRead
  case callListed
  case callSignal
  case callKeyChanged
  case deviceRegistered
  case deviceListed
  case deviceKeyPublished
  case deviceKeyRevoked
  case deviceKeyFetched
  /// The head of the log of keys was read, or what shows that it has only grown.
  case keyProofRead
  case sharedSession
  case sharedSessionLeft
  case sharedSessionEnded
  case sharedEvent
  case sharedSnapshot
  case sharedRead
  case personBlocked
  case personUnblocked
  case personErased
  /// A device began to hear what happens, stopped by itself, and was ended since its token held no longer; it read a page.
  case callStreamOpened
  case callStreamClosed
  case callStreamExpired
  case callPageRead
  case callEventHeard
  /// A person was given another token. One opened nothing of what was asked, or nothing any more.
  case callTokenRenewed
  case callTokenVoid
  /// Something was done again; came late; came with something else at once.
  case callRepeated
  case callReordered
  case callsAtOnce
  /// A stranger's answer was held against that of a call that never was.
  case strangerCompared
  /// A word in a text was held against who may read it; what was charged against the price; the end of a ring against its beginning.
  case callWordJudged
  case callPriceJudged
  case ringEnded
  /// Somebody had nothing left to pay with.
  case callPriceRefused
}

extension Mechanism {
  /// It is counted where less comes out than could: that it never fires is no gap in what was shown.
  public var isShortcoming: Bool {
    switch self {
    case .choiceBelowBest, .switchesOver, .encodingLate, .encodingStaysOn, .pictureFroze, .soundLost,
      .soundWaited, .stoodStill, .pictureLacking, .tileFroze, .budgetOver:
      true
    default: false
    }
  }

  /// Of a shortcoming, over all seeds together: how large a part of what was judged it may be at most, where at least so much was.
  public var bound: (part: Double, judged: Mechanism, least: UInt64)? {
    switch self {
    case .choiceBelowBest: (part: 0.1, judged: .choiceJudged, least: 300)
    // Of spans of two seconds: a freeze in three minutes of one viewer, and a switch too many in a quarter of an hour.
    case .pictureFroze: (part: 0.01, judged: .choiceJudged, least: 300)
    case .switchesOver: (part: 0.002, judged: .choiceJudged, least: 500)
    case .encodingLate: (part: 0.1, judged: .encodingReturned, least: 40)
    // Three standard deviations of chance are in it.
    case .soundLost: (part: 0.02, judged: .soundJudged, least: 300)
    // The 95th percentile of a path's queue stays below 100 ms, and what is above comes in bursts.
    case .soundWaited: (part: 0.03, judged: .soundJudged, least: 300)
    case .stoodStill: (part: 0.01, judged: .stillJudged, least: 300)
    case .budgetOver: (part: 0.002, judged: .budgetJudged, least: 1_000)
    case .pictureLacking: (part: 0.05, judged: .movingJudged, least: 100)
    case .tileFroze: (part: 0.02, judged: .movingJudged, least: 100)
    default: nil
    }
  }

  /// In one of so many seeds it may fire at all: conferences on narrow paths are beside every fifth, those of calls beside another one.
  public var seedsForOne: UInt64 {
    switch self {
    case .simulcast, .spatialLayers, .encryptedFrames, .encodingMissing, .encodingInterrupted,
      .encodingKeyFrame,
      .encodingUnwatched, .encodingWatched, .encodingUp, .encodingDown, .layersChanged, .pictureResumed,
      .viewChanged, .pathChanged, .probePacket, .pathOverflow, .pictureDecoded, .budgetJudged, .choiceJudged,
      .encodingReturned, .pauseHeard, .soundJudged, .stillJudged:
      5
    // So are conferences of calls.
    case .callStarted, .callJoined, .callRejected, .callLeft, .callInvited, .blockedRing, .callTimedOut,
      .callPersonRemoved, .callEnded, .callChanged, .callForgotten, .callRead, .callListed, .callSignal,
      .callKeyChanged, .deviceRegistered, .deviceListed, .deviceKeyPublished, .deviceKeyRevoked,
      .deviceKeyFetched, .keyProofRead, .sharedSession, .sharedSessionLeft, .sharedSessionEnded,
      .sharedEvent, .sharedSnapshot, .sharedRead, .personBlocked, .personUnblocked, .personErased,
      .callStreamOpened, .callStreamClosed, .callStreamExpired, .callPageRead, .callEventHeard,
      .callTokenRenewed, .callTokenVoid, .callRepeated, .callReordered, .callsAtOnce, .strangerCompared,
      .callWordJudged, .callPriceJudged, .ringEnded, .callPriceRefused:
      5
    // One in twelve seeds has a participant without a socket whose media comes down by the server's offer.
    case .serverOffer: 2
    // Both call each other in the same moments; a second device comes while the first is there; few ask by the right token.
    case .callMerged, .callTakenOver, .callEndedByAdmin: 50
    // Of meetings, which are runs of their own.
    case .movingJudged: .max
    // Few publishers stop an encoding while it is shown, or announce theirs by SSRC.
    case .stopBridged, .simulcastBySSRC: 100
    default: 1
    }
  }
}

/// How often each mechanism fired.
public struct MechanismCounts: Sendable {
  private var counts: [UInt64] = Array(repeating: 0, count: Mechanism.allCases.count)

  public init() {}

  public subscript(mechanism: Mechanism) -> UInt64 {
    get { counts[mechanism.rawValue] }
    set { counts[mechanism.rawValue] = newValue }
  }

  public mutating func add(_ other: MechanismCounts) {
    for mechanism in Mechanism.allCases { self[mechanism] += other[mechanism] }
  }
}
