#if PLANTED_DEFECTS
  /// Mistakes that are in no build but that of `ROOST_DEFECTS=1`, where one of them is switched on at a time: what finds
  /// mistakes has to find these. Which tests are to find each says `scripts/mutants.list`.
  public enum PlantedDefect: String, CaseIterable, Sendable {
    // MARK: - Model
    /// A network of IPv4 addresses has IPv6 ones in it, where their bits agree.
    case otherFamily = "other-family"
    /// Milliseconds below a hundred are written without the zeros before them.
    case wallMilliseconds = "wall-milliseconds"
    /// State of a version that the build doesn't know is read as if it were its own.
    case newerVersion = "newer-version"
    /// As many combining marks may stand in a row as a text has.
    case marksUnbounded = "marks-unbounded"
    /// A number just outside of the window counts as within.
    case windowEnd = "window-end"
    // MARK: - Logging
    /// What has just the level that is asked for isn't written.
    case logLevel = "log-level"
    /// A line separator in a value stays as it is.
    case logSeparator = "log-separator"
    // MARK: - Polling
    /// A descriptor that is taken out of the set stays in it.
    case stillWatched = "still-watched"
    // MARK: - Wire
    /// The mask of a NACK is read one number too low.
    case nackMask = "nack-mask"
    /// A distance of 256 ticks goes into one byte.
    case deltaByte = "delta-byte"
    /// Attributes after MESSAGE-INTEGRITY count, although it doesn't cover them.
    case afterIntegrity = "after-integrity"
    /// The zeros behind a name that ends on a word are taken for the next source.
    case namePadding = "name-padding"
    /// Of the sources that say goodbye the last is left out.
    case goodbyeShort = "goodbye-short"
    // MARK: - Crypto
    /// A packet just as old as the window is long counts as one within.
    case replayWindow = "replay-window"
    /// A number half way round counts as one of the round before.
    case halfWay = "half-way"
    /// A code that is cut off counts as equal.
    case codePrefix = "code-prefix"
    /// Of several fingerprints the last alone decides.
    case lastFingerprint = "last-fingerprint"
    /// A greeting is known by its length alone.
    case helloLength = "hello-length"
    // MARK: - ICE
    /// Consent that has ended comes back with a late answer.
    case consentRevived = "consent-revived"
    /// A nomination of the same value as the last counts once more.
    case nominationAgain = "nomination-again"
    /// An answer to a check of before the challenge settles it.
    case oldAnswer = "old-answer"
    /// After a restart checks with the credentials of before it are refused at once.
    case oldFragment = "old-fragment"
    /// Who checks with our fragment of before a restart and its own of since is checked with both of before.
    case restartUncrossed = "restart-uncrossed"
    // MARK: - Congestion
    /// What is lost between two messages is in neither.
    case lossBetween = "loss-between"
    /// The messages are not numbered on.
    case messageNumber = "message-number"
    /// A remote's own estimate counts for ever.
    case staleEstimate = "stale-estimate"
    /// What comes after it was taken for lost stays lost.
    case overtakenLost = "overtaken-lost"
    /// What was reported as received is reported as missing later.
    case arrivedIsMissing = "arrived-is-missing"
    /// A time of sending that begins another circle is taken for one long past.
    case sendTimeWraps = "send-time-wraps"
    /// An estimate of the remote's rises by half of the way to what it says, however far that is.
    case wordLeaps = "word-leaps"
    /// What a probe's first packets show is believed.
    case probeByPrefix = "probe-by-prefix"
    /// Where nothing can be sent to probe with, what isn't sent is never tried.
    case unprobedStays = "unprobed-stays"
    /// Where probes can show what a path carries, what isn't sent is tried without one all the same.
    case triedUnproven = "tried-unproven"
    /// At another address a remote's own estimate of the path to the former one still counts.
    case wordOfBefore = "word-of-before"
    // MARK: - Media
    /// A key index of VP8 goes on as its encoder counts it.
    case keyIndexKept = "key-index-kept"
    /// An estimate about anybody's streams is taken for one about ours.
    case foreignEstimate = "foreign-estimate"
    /// Any sound may take as much as RED does.
    case soundAsRedundant = "sound-as-redundant"
    /// A late packet counts as the highest that was sent.
    case lateIsHighest = "late-is-highest"
    /// An id of seven bits is kept as one of fifteen for the next source.
    case pictureIdWidth = "picture-id-width"
    /// A new source begins with the picture id that the last one ended with.
    case pictureIdRepeated = "picture-id-repeated"
    /// A packet of the source before is looked for in the present one's history.
    case nackOtherSource = "nack-other-source"
    /// The source that is just as far ahead as it may be is joined again.
    case runsAheadByOne = "runs-ahead-by-one"
    /// The next source goes on from the last timestamp, though one before it was later.
    case lastNotLatest = "last-not-latest"
    /// A worker that stands in for another makes nothing of a deadline that has come nearer.
    case deadlineOverslept = "deadline-overslept"
    /// A worker waits for the rest of a frame although audio has come.
    case audioGathered = "audio-gathered"
    /// A worker stands in for one whose thread is awake.
    case standsInForTheAwake = "stands-in-for-the-awake"
    /// A clock is believed although it has its packet taken far from its arrival.
    case clockUnasked = "clock-unasked"
    /// The clock of the packets sent is used at the next joint as well.
    case clockUsedAgain = "clock-used-again"
    /// The same source behind a wait for a key frame gets its timestamps by arrival.
    case differenceDropped = "difference-dropped"
    /// A timestamp that leaps by more than an hour leaves as it is.
    case leapLeaves = "leap-leaves"
    /// Sender reports count the bytes of headers as well.
    case octetsWithHeader = "octets-with-header"
    /// Reports go on counting losses from where the source started over.
    case reportAfterRestart = "report-after-restart"
    /// After a restart the sender report of before it is still answered.
    case reportOfBefore = "report-of-before"
    /// Another source's pictures are compared with those of the one before.
    case pictureOfBefore = "picture-of-before"
    /// Feedback goes on under the source of a track that has ended.
    case feedbackOfEnded = "feedback-of-ended"
    /// What checks of the path measure is heard by no session.
    case checksUnheeded = "checks-unheeded"
    /// A subscriber's last report of losses counts for ever.
    case lossForEver = "loss-for-ever"
    /// A missing packet is asked for before it may have been overtaken.
    case nackEarly = "nack-early"
    /// A packet is sent again however often it is asked for within a round trip.
    case askedAgainSoon = "asked-again-soon"
    /// The time of the last request for a key frame is forgotten when the key frame comes.
    case keyFrameFlood = "key-frame-flood"
    /// Ranges of a packet's info from another node may lie outside of the packet.
    case infoOutsidePacket = "info-outside-packet"
    /// Of several sections that a packet names the last one takes it.
    case lastName = "last-name"
    /// A stream that belongs to no track any more goes on having its place among those that do.
    case streamKept = "stream-kept"
    /// A packet that is dropped before it leaves keeps the number that it would have had.
    case placeLeftOpen = "place-left-open"
    /// What isn't kept any more leaves as what came in its place.
    case tooLateSent = "too-late-sent"
    /// The time of capture goes on as its publisher's clock has it.
    case captureTimeForeign = "capture-time-foreign"
    // MARK: - Negotiation
    /// A section whose source is forbidden is accepted.
    case forbiddenSection = "forbidden-section"
    /// Candidates stand in an answer's first section alone.
    case candidatesFirst = "candidates-first"
    /// Parameters of a format are parsed however long they are.
    case formatUnbounded = "format-unbounded"
    /// All lines of a section are read again for each of its formats.
    case codecsPerFormat = "codecs-per-format"
    /// A retransmission format is taken whatever its clock.
    case rtxClock = "rtx-clock"
    /// An extension may change its id from one offer to the next.
    case extensionMoved = "extension-moved"
    /// Each time that retransmissions are wanted again they are another stream.
    case rtxDrawnAgain = "rtx-drawn-again"
    /// A section that the client has stopped sending in goes on announcing the track that our offer had there.
    case trackKept = "track-kept"
    // MARK: - Transport
    /// What comes before its path is proven is taken for media all the same.
    case pathUnproven = "path-unproven"
    // MARK: - Peer
    /// The padding of a probe goes before what waits.
    case paddingFirst = "padding-first"
    /// A slot that is gone keeps the packets that were sealed for it.
    case keptWhenGone = "kept-when-gone"
    /// The second compound of sender reports is sealed under the first one's source.
    case secondCompound = "second-compound"
    /// Reports of a retransmission stream move its publisher's clock.
    case rtxReportClock = "rtx-report-clock"
    /// A goodbye of a retransmission stream ends the media's as well.
    case rtxGoodbye = "rtx-goodbye"
    /// A report and its name are parted where a compound is full.
    case compoundOverfull = "compound-overfull"
    /// A slot that goes leaves without a goodbye.
    case noGoodbye = "no-goodbye"
    /// A client that answers no checks has proven no path, although its handshake was done there.
    case handshakeUnproven = "handshake-unproven"
    /// Of who has no retransmission stream, the sealed bytes that are sent again are sealed once more.
    case keptSealedAgain = "kept-sealed-again"
    // MARK: - Engine
    /// A path that was pushed beyond a gap at the table's end isn't found again.
    case pathGap = "path-gap"
    /// A path is taken by a check that has proven nothing.
    case pathDisplaced = "path-displaced"
    /// What a peer without proof claims takes the proof of its worker's other peers away at other workers.
    case proofOverwritten = "proof-overwritten"
    /// A path isn't given back when who took it goes.
    case pathNotReturned = "path-not-returned"
    /// A timer that moves down looks at one of two places alone.
    case timerChild = "timer-child"
    /// What the end of a ring leaves unused isn't counted as taken.
    case ringOverrun = "ring-overrun"
    /// Checks that were answered still count against their fragment.
    case pendingCount = "pending-count"
    /// A worker that goes on from its state has none of the packets that were kept.
    case packetsNotCarried = "packets-not-carried"
    /// What a turn brings beyond what may wait is left out.
    case turnCutShort = "turn-cut-short"
    /// A sink's request for a key frame goes no further than its worker.
    case sinkUnheard = "sink-unheard"
    /// The messages that a worker finds at once are taken last first.
    case batchBackwards = "batch-backwards"
    /// What another worker hands over and isn't a peer's of this one goes on to the worker that the path leads to.
    case datagramInACircle = "datagram-in-a-circle"
    // MARK: - HTTPServer
    /// Letters that only look like those of a field's words count as these.
    case anyLetters = "any-letters"
    /// A request that libmicrohttpd refuses is left to it.
    case refusedTwice = "refused-twice"
    /// A chunked body past its bound is read on, and thrown away.
    case bodyReadOn = "body-read-on"
    /// What a zero byte cuts off a field's value isn't missed.
    case fieldCut = "field-cut"
    /// An address may begin as many TLS handshakes as it likes.
    case handshakesUnrationed = "handshakes-unrationed"
    /// The address that a client makes up is taken for its own.
    case leftmostAddress = "leftmost-address"
    /// One address may have all connections.
    case addressUnbounded = "address-unbounded"
    /// Connections that have ended still count for their address.
    case addressNotReleased = "address-not-released"
    /// A WebSocket that is closing stays as long as something of what waits is taken now and then.
    case closingForEver = "closing-for-ever"
    /// Before it is known who is there a message may be as long as any.
    case longGreeting = "long-greeting"
    /// A path is split into as many segments as it has.
    case segmentsUnbounded = "segments-unbounded"
    /// Before it is known who is there as many bytes may wait as later.
    case waitsUnbounded = "waits-unbounded"
    /// An address may ask once more at once than its burst.
    case burstAndOne = "burst-and-one"
    /// As many answers are produced over time as are asked for.
    case streamsUnbounded = "streams-unbounded"
    /// A piece of nothing is a chunk, which is the end of the body.
    case emptyChunk = "empty-chunk"
    /// A client that takes nothing is cut off without a word.
    case stalledUnsaid = "stalled-unsaid"
    // MARK: - WebSocketClient
    /// A secure address without a port is looked for at port 80.
    case securePort = "secure-port"
    // MARK: - HTTPClient
    /// The two bytes at a line's end count as two ends.
    case lineEndsTwice = "line-ends-twice"
    /// An event's id counts before the event is over.
    case eventIDEarly = "event-id-early"
    /// The data of an event has no bound of its own.
    case eventDataUnbounded = "event-data-unbounded"
    /// A redirect is followed.
    case redirectFollowed = "redirect-followed"
    /// A host whose name begins like an address of this machine is taken for it.
    case loopbackPrefix = "loopback-prefix"
    /// A stream may be silent for as long as it likes.
    case silentStream = "silent-stream"
    // MARK: - Storage
    /// A write is answered before its transaction is on the disk.
    case answeredBeforeSync = "answered-before-sync"
    /// A database of a newer schema is taken for one of this version.
    case newerSchema = "newer-schema"
    /// A write that is refused takes those of its group with it.
    case groupUndone = "group-undone"
    // MARK: - Rooms
    /// REST answers without waiting for what it says to be stored.
    case answeredUnsynced = "answered-unsynced"
    /// Readers are given events that are not stored yet.
    case shownUnstored = "shown-unstored"
    /// After a restart the events of a room are numbered from 1 once more.
    case numbersAgain = "numbers-again"
    /// Where nothing can be written events wait as long as there is memory.
    case pendingUnbounded = "pending-unbounded"
    /// What could not be written is forgotten.
    case unwrittenForgotten = "unwritten-forgotten"
    /// Who is hidden is named when its permissions change.
    case hiddenPermissions = "hidden-permissions"
    /// A participant that joins gets those who are hidden, too.
    case hiddenPresent = "hidden-present"
    /// What was spent is forgotten at once.
    case allowanceForgotten = "allowance-forgotten"
    /// A message names who is hidden as its sender.
    case hiddenSender = "hidden-sender"
    /// All participants get the quality of a hidden one.
    case hiddenQuality = "hidden-quality"
    /// All participants learn when a hidden one is away.
    case hiddenAway = "hidden-away"
    /// A list of unknown sources alone allows all of them.
    case unknownSource = "unknown-source"
    /// A renewed token that allows no source says nothing of sources.
    case noSourceWritten = "no-source-written"
    /// A token of an issuer may be as long as a renewed one.
    case longToken = "long-token"
    /// A token is good for twice the leeway after its end.
    case tokenLeeway = "token-leeway"
    /// A renewed token lives as long as the first one, without a bound.
    case renewedForEver = "renewed-for-ever"
    /// A room may be named by a dot, which addresses drop.
    case nameOfDots = "name-of-dots"
    /// Who administers no room named in the token administers every room.
    case adminOfNothing = "admin-of-nothing"
    /// A camera may be published in a section of sound.
    case sourceOfAnyKind = "source-of-any-kind"
    /// A token of the second of its removal is let in.
    case removalSameSecond = "removal-same-second"
    /// A removal is forgotten with an older one of the same identity.
    case removalForgotten = "removal-forgotten"
    /// Others that were removed again and again take the place of a removal in the memory.
    case removalCrowdedOut = "removal-crowded-out"
    /// Who is absent is removed without being remembered.
    case removalOfAbsent = "removal-of-absent"
    /// A closed room stays for its departure timeout.
    case closedRoomWaits = "closed-room-waits"
    /// A refused join ends a room as if a participant had left it.
    case refusedCounts = "refused-counts"
    /// A room asks for a place for a waiting participant before its other effects of the same input are done.
    case askedTooSoon = "asked-too-soon"
    /// The settings of a room that is over can be changed.
    case finishedChanges = "finished-changes"
    /// A room's own limit may be above the server's.
    case aboveTheServer = "above-the-server"
    /// A track that was withdrawn comes back as a camera or microphone.
    case withdrawnSource = "withdrawn-source"
    /// An administrator's mute ends with its track.
    case muteShakenOff = "mute-shaken-off"
    /// A participant's second camera counts like everybody's first.
    case allFirst = "all-first"
    /// Events of an earlier room of that name are asked for, and those of the present one come.
    case eventsOfBefore = "events-of-before"
    /// A message to an empty list of identities reaches no participant instead of all.
    case emptyDestinations = "empty-destinations"
    /// Each change of a track's codec has everybody's slots settled at once.
    case codecsAtOnce = "codecs-at-once"
    /// Offers cost nothing, however many bytes they have.
    case offersForNothing = "offers-for-nothing"
    /// An event is encoded again for each recipient.
    case encodedForEach = "encoded-for-each"
    /// Changes by participants themselves may take all that a room has for metadata.
    case updatesTakeAll = "updates-take-all"
    /// Participants who say much at once don't wait for those who listen.
    case noticesPourIn = "notices-pour-in"
    /// What an administrator takes away waits until front doors have caught up.
    case withdrawalsWait = "withdrawals-wait"
    /// Names that look the same are the same.
    case namesLookAlike = "names-look-alike"
    /// Sessions that are due end in the middle of an offer of another participant's.
    case endedTooSoon = "ended-too-soon"
    /// Coming back costs nothing, however much was missed.
    case resumeForNothing = "resume-for-nothing"
    /// While no one is there to read, an offer's answer is left out like what is said again.
    case answerLeftOut = "answer-left-out"
    /// A sample that comes late makes a participant one that was heard long ago.
    case heardBackwards = "heard-backwards"
    /// A track comes as long as its first encoding does.
    case firstEncodingAlone = "first-encoding-alone"
    /// Each stall of a track is announced, however often it comes and goes.
    case stallsAtOnce = "stalls-at-once"
    /// A codec that comes and goes is added as soon each time as the first.
    case codecsComeAndGo = "codecs-come-and-go"
    /// A publisher hears once which codecs all take, also where its section has others later.
    case codecsSaidOnce = "codecs-said-once"
    /// Where nothing is left that all take, a publisher isn't given the empty list.
    case noCodecUnsaid = "no-codec-unsaid"
    /// The media plane doesn't hear that a section's next track has no traits.
    case traitsSurvive = "traits-survive"
    /// Those who read what happens aren't called when somebody is removed.
    case removalUnnoticed = "removal-unnoticed"
    // MARK: - Configuration
    /// A service's address over UDP is taken for an option's value.
    case serviceOverUdp = "service-over-udp"
    /// A variable that differs from an option's by two letters is passed over.
    case twoLetters = "two-letters"
    /// The value of a variable that may be a token is shown in the error.
    case secretShown = "secret-shown"
    /// A token that joins the room named * is made.
    case everyRoomJoined = "every-room-joined"
    /// Minutes on the command line count as hours.
    case minutesAsHours = "minutes-as-hours"
    // MARK: - Operator
    /// The control characters above U+007F reach the terminal.
    case upperControls = "upper-controls"
    /// A list ends with its first page.
    case firstPageAlone = "first-page-alone"
    /// A token that is made for one request allows all.
    case tokenForAll = "token-for-all"
    /// A token may go to another machine in clear.
    case tokenInClear = "token-in-clear"
    /// A stream that was cut begins again where it once began.
    case streamFromStart = "stream-from-start"
    /// Waits between tries don't grow.
    case waitsTheSame = "waits-the-same"
    // MARK: - Gateway
    /// A page may read whose origin begins like an allowed one.
    case originPrefix = "origin-prefix"
    /// A page of another port of an allowed host may read.
    case originPort = "origin-port"
    /// A page of an allowed host may read under another scheme.
    case originScheme = "origin-scheme"
    /// A page is refused whose origin is an allowed one in other letter case.
    case originCase = "origin-case"
    /// While trying out a page is served whose origin begins like the server's own.
    case developmentOrigin = "development-origin"
    /// A page of any origin may open a WebSocket.
    case socketOrigin = "socket-origin"
    /// What came before a socket was closed is obeyed after it.
    case obeyedWhenOver = "obeyed-when-over"
    /// Before it is known who is there a second message is read.
    case secondMessage = "second-message"
    /// However many short messages there are, they cost their bytes alone.
    case shortForNothing = "short-for-nothing"
    /// A message of an unknown type costs the least, however long it is.
    case unknownForNothing = "unknown-for-nothing"
    /// A message that can't be read costs the least, however long it is.
    case malformedForNothing = "malformed-for-nothing"
    /// A ping costs the least, however long it is.
    case pingForNothing = "ping-for-nothing"
    /// A candidate costs the least, however long it is.
    case candidateForNothing = "candidate-for-nothing"
    /// The quotes of a request's id count for its length.
    case idWithQuotes = "id-with-quotes"
    /// A request of an unknown type has no answer.
    case unknownUnanswered = "unknown-unanswered"
    /// A resume token is good for a second socket.
    case resumedTwice = "resumed-twice"
    /// A resume token whose socket broke is lost with it.
    case resumeLost = "resume-lost"
    /// A request that comes again while it is being done is done twice.
    case doneTwice = "done-twice"
    /// An answer that is sent again costs nothing.
    case answeredForNothing = "answered-for-nothing"
    /// The life of a room that a request names is passed over.
    case lifeUnread = "life-unread"
    /// The name for a relay ends in milliseconds.
    case relayInMilliseconds = "relay-in-milliseconds"
    /// What a reader of events has seen last is a number alone, of whatever room has the name.
    case lastSeenAnywhere = "last-seen-anywhere"
    /// Whether one may read is asked at the beginning alone.
    case readerUnasked = "reader-unasked"
    /// The address counts for more than what the reader has seen last.
    case addressBeforeLastSeen = "address-before-last-seen"
    /// Two notices of one room are on their way at once.
    case noticesAtOnce = "notices-at-once"
    /// A redirect says that a notice has arrived.
    case redirectArrives = "redirect-arrives"
    // MARK: - Load
    /// A percentile is that of the packet before.
    case roundedDown = "rounded-down"
    /// A packet that comes again counts as one that came.
    case repeatsCounted = "repeats-counted"
    /// What is around a picture's number isn't looked at.
    case patternUnread = "pattern-unread"
    /// Any sound that is loud enough is the tone.
    case anyTone = "any-tone"
    /// Pictures go on behind a gap without a key frame.
    case gapIgnored = "gap-ignored"
    /// What stands still at the end of a span is no freeze.
    case endIsSmooth = "end-is-smooth"
    /// A limit counts as broken where it is just kept.
    case limitIsBroken = "limit-is-broken"
    // MARK: - roost
    /// SIGTERM ends the server at once.
    case noPatience = "no-patience"
    /// A second SIGTERM is waited out like the first.
    case secondSignal = "second-signal"
    // MARK: - The simulation's to find
    /// What a path carries is not what is shared out: everything that is wanted is sent.
    case targetIgnored = "target-ignored"
    /// Where not everything fits sound pauses as pictures do.
    case audioPaused = "audio-paused"
    /// Sound waits its turn as pictures do.
    case soundWaits = "sound-waits"
    /// An encoding that other workers' viewers watch alone goes off.
    case farViewersUncounted = "far-viewers-uncounted"
    /// No word that a path has no room for a picture, or that it has again.
    case pauseUnsaid = "pause-unsaid"
    /// A publisher hears once which codecs all take, and nothing of who comes and goes.
    case codecsUnsaid = "codecs-unsaid"
    /// An encoding that once failed to come counts so for its half minute, although it comes.
    case failureOutlasts = "failure-outlasts"
    /// What a slot shows until a smaller encoding is there counts as that one.
    case formerUncounted = "former-uncounted"
    /// A slot leaves all feeds before it takes the one that it goes on to.
    case formerLeftFirst = "former-left-first"
    /// An encoding that is silent counts as one that flows.
    case stopUnnoticed = "stop-unnoticed"
    /// A probe's packets take numbers of a slot's media.
    case probeUnderMediaNumber = "probe-under-media-number"
    /// A stream's numbers jump where another source takes over.
    case sequenceJump = "sequence-jump"
    /// Two packets go out under one index.
    case indexSealedTwice = "index-sealed-twice"
    /// A slot that was emptied shows on what it showed.
    case missingSubscriptionCheck = "missing-subscription-check"
    /// A peer that is gone leaves its timer armed.
    case timerLeak = "timer-leak"
    /// A peer that is put back doesn't know how often numbers have rolled over.
    case staleRollover = "stale-rollover"
    /// A session ends without a word on its socket.
    case lostClosed = "lost-closed"
    /// An encoding that all have turned off is sent on.
    case offIsWatched = "off-is-watched"
    /// A slot goes on to another encoding in the middle of things.
    case switchWithoutKeyFrame = "switch-without-key-frame"
    /// What is left out of a stream leaves gaps in its numbers.
    case placesStayOpen = "places-stay-open"
    /// Picture ids of what is left out are not closed up.
    case pictureNotRewritten = "picture-not-rewritten"
    /// A layer is taken up at once, whatever its pictures refer to.
    case layerTakenUpAtOnce = "layer-taken-up-at-once"
    /// What a slot's subscriber gives a higher priority waits like all else.
    case priorityIgnored = "priority-ignored"
    /// Frames that others refer to are left out where much waits.
    case shedsReferenced = "sheds-referenced"
    /// A stream that was cut asks for no key frame by itself.
    case cutUnasked = "cut-unasked"
    /// Behind a picture that was cut those of its layer of frame rate go on at once.
    case layersGoOnAtOnce = "layers-go-on-at-once"
    /// Pictures that are taken out where they wait leave a gap in the ids.
    case idsNotClosed = "ids-not-closed"
    /// A layer is waited for that its source has begun once, or never.
    case returnsAlways = "returns-always"
    /// A layer of frame rate that hasn't begun again is waited for without end.
    case lackUnbounded = "lack-unbounded"
    /// Behind a picture that left in part layers go on without one of the lowest.
    case lowestNotAwaited = "lowest-not-awaited"
    /// Pictures are taken out where they wait of which packets are yet to come.
    case wholeNotAsked = "whole-not-asked"
    /// Frames that no other refers to stay where they wait.
    case freeStaysWaiting = "free-stays-waiting"
    /// What a stream begins with of the time before is shown in its own time.
    case pastUndrawn = "past-undrawn"
    /// A stream begins with recent pictures of which a packet is missing.
    case pastIncomplete = "past-incomplete"
    /// RED is put around frames that are encrypted end to end.
    case redAroundEncrypted = "red-around-encrypted"
    /// A block of RED is dated one packet off.
    case redMisdated = "red-misdated"
    /// What a worst listener loses is reported however much it is.
    case raisedUncapped = "raised-uncapped"
    /// What other workers' listeners lose is not heard of.
    case farLossUnheard = "far-loss-unheard"
    /// An encoding is sent for a viewer at another worker that looks at it for a moment.
    case momentWatched = "moment-watched"
    /// Viewers at other workers leave an encoding that has stopped at their next look.
    case stopHeardLate = "stop-heard-late"
    /// Behind the last track of video what was wanted of it stays so.
    case lastTrackWanted = "last-track-wanted"
    /// An encoding is sent for a slot that has yet to begin and goes on to another.
    case passingWatched = "passing-watched"
    /// What other workers' listeners lose is said where one listens beside the publisher alone.
    case farLossAlone = "far-loss-alone"
    /// A structure that comes again counts as a key frame.
    case keyFrameByStructure = "key-frame-by-structure"
    /// A frame whose payload can't be read is dropped, although its descriptor can.
    case encryptedFrameDropped = "encrypted-frame-dropped"
    /// A layer of size that began at a key frame is given up at any picture.
    case keyedLayerGivenUp = "keyed-layer-given-up"
    /// Frames that are not needed above are sent to those who get more.
    case lowerLayersSent = "lower-layers-sent"
    /// Subscribers that get a part read that they get all.
    case targetsNotRewritten = "targets-not-rewritten"
    /// A packet whose descriptor has no room to grow is not sent again.
    case grownRepairLost = "grown-repair-lost"
    /// Of H.264 those frames are a layer of their own that others refer to.
    case referencesLeftOut = "references-left-out"
    /// A sub-layer of H.265 is taken up with a picture that refers to one that wasn't shown.
    case subLayerSkipped = "sub-layer-skipped"
    /// A picture of H.265 that a higher sub-layer refers to may be left out.
    case lowerSubLayerFree = "lower-sub-layer-free"
    /// H.265 whose pictures come in several streams is agreed on.
    case manyStreamsTaken = "many-streams-taken"
    /// An encoding that its publisher says it has stopped counts until it is silent.
    case stopUnheard = "stop-unheard"
    /// Pictures of all layers of frame rate count as those of the lowest.
    case framesOfAll = "frames-of-all"
    /// Packets that come late change which layers are shown.
    case lateJudged = "late-judged"
    /// A source that has run far ahead of what was sent is not joined to the stream again.
    case noRejoin = "no-rejoin"
    /// Where no section is left, the media plane gets no command.
    case mediaWithoutSections = "media-without-sections"
    /// Who may no longer publish does so in a new section.
    case publishesAgain = "publishes-again"
    /// A track that was muted by an administrator is unmuted by being published again.
    case standingMuteForgotten = "standing-mute-forgotten"
    /// All screens of a participant come before everybody's cameras.
    case screensOutrank = "screens-outrank"
    /// The door alone asks whether an identity was removed, and not the room as it lets one in.
    case removalRaced = "removal-raced"
    /// Any source may be said of a section of any kind, and one without a name is allowed to everybody.
    case sourceUnchecked = "source-unchecked"
    /// Media that came in at another worker's socket is lost, and all else is handed over.
    case lostAtHandover = "lost-at-handover"
    /// A track that is muted flows again when its publisher is rebuilt from its state.
    case mutedFlowsAfterMove = "muted-flows-after-move"
    /// Encodings that a muted track has new aren't muted.
    case newEncodingsFlow = "new-encodings-flow"
    /// An unmute sends no key-frame request.
    case unmuteWithoutKeyFrame = "unmute-without-key-frame"
    // MARK: - The link between namespaces
    /// What sets out from there takes the way from here.
    case linkIsOneWay = "link-is-one-way"
    /// A stream that shows all layers of size falls to the lowest with the next key frame.
    case aboveAllIsLowest = "above-all-is-lowest"
    /// What waits before a rate that was raised counts as at the old one.
    case linkStaysBusy = "link-stays-busy"
    // MARK: - Explanations
    /// A track that is muted is explained as one of which nothing comes.
    case explainsMuteAsSilence = "explains-mute-as-silence"
    /// What the connection carries is said by what arrives, not by what may be sent.
    case explainsWithEstimate = "explains-with-estimate"
    /// A participant may ask why it gets what it gets as often as it likes.
    case explainsWithoutEnd = "explains-without-end"
    /// A participant is given the id of a hidden one that asked for a key frame.
    case explainsHidden = "explains-hidden"
    /// Each question of a participant about itself goes to all workers.
    case explainsEverywhere = "explains-everywhere"
    /// The share that a subscriber lost is explained as its report writes it, in 256ths.
    case explainsLossAsWritten = "explains-loss-as-written"
    /// A key frame that a subscriber waits for and that is requested once more is requested for the server.
    case repeatedForServer = "repeated-for-server"

    // MARK: - Figures and thumbnails
    /// Thumbnails of a track are taken as often as they are asked for.
    case thumbnailsAsAsked = "thumbnails-as-asked"
    /// One room may have all thumbnails that are under way at the same time.
    case thumbnailsOfOne = "thumbnails-of-one"
    /// A thumbnail is taken of a track that is encrypted.
    case thumbnailOfEncrypted = "thumbnail-of-encrypted"
    /// A thumbnail is given without a word to the room.
    case thumbnailUnannounced = "thumbnail-unannounced"
    /// A thumbnail is given to one who may not subscribe.
    case thumbnailUngranted = "thumbnail-ungranted"
    /// Whether one may read figures is asked at the beginning alone.
    case figuresUnasked = "figures-unasked"
    /// One token may have as many streams of figures as there may be in all.
    case figuresForOne = "figures-for-one"

    // MARK: - Who waits, and who comes late
    /// Those who are no hosts hear of who waits.
    case waitersKnown = "waiters-known"
    /// One whose identity is in needn't wait, and gets into a locked room.
    case admissionByName = "admission-by-name"
    /// What one asks right behind `joined` who was let in is refused.
    case earlyRefused = "early-refused"
    /// Who is refused may come again by the same token.
    case refusedUnforbidden = "refused-unforbidden"
    /// As many come to wait as like, as often as they like.
    case waitingUnpaced = "waiting-unpaced"
    /// Those who have one link keep others out of the waiting room.
    case waitingForOneLink = "waiting-for-one-link"
    /// What was said before is given also to those who may not subscribe.
    case historyForAll = "history-for-all"
    /// What a removed identity has said is kept.
    case historyOfRemoved = "history-of-removed"
    /// A room keeps its messages, however much all rooms together do.
    case historyOfAll = "history-of-all"
    /// An invitation allows what who makes it may not do.
    case invitedToMore = "invited-to-more"
    /// All who have a link open it as often as they like.
    case openedUnpaced = "opened-unpaced"
    /// Tokens of an invitation that is revoked are good.
    case revokedHolds = "revoked-holds"

    // MARK: - Rates and layers
    /// Where the encodings that are watched stop, none that is off stands in.
    case stopUncalled = "stop-uncalled"
    /// A viewer that asks for more waits for what failed before it asked.
    case largerTileWaits = "larger-tile-waits"
    /// A slot that goes on to a track that its subscriber turned off shows it until the next allocation.
    case offBeginsShown = "off-begins-shown"
    /// A slot that is turned off stands at the encoding that it began with, and begins with that again.
    case offStandsAnywhere = "off-stands-anywhere"
    /// A subscriber whose stream is paused has its publisher asked for key frames.
    case pausedAsks = "paused-asks"
    /// A tile of which one side is said goes before all others.
    case halfSizeFirst = "half-size-first"
    /// Of an encoding that doesn't come key frames are asked for, again and again.
    case keyFramesOfSilent = "key-frames-of-silent"
    /// A size that a client said is no layer's.
    case saidSizeUnused = "said-size-unused"
    /// What a packet announces of the stream that it names is believed of each stream of its track.
    case announcedOfNamed = "announced-of-named"
    /// Of the sizes that a dependency descriptor says all layers get the lowest.
    case lowestSizeForAll = "lowest-size-for-all"
    /// What a client says of sizes behind its offer goes no further than its room.
    case resizeUnheard = "resize-unheard"
    /// Who says how many pictures a second it shows gets all that there are.
    case fasterThanShown = "faster-than-shown"
    /// An encoding that is off counts by what came of it last.
    case offCountsAsNothing = "off-counts-as-nothing"
    /// An encoding that is off, and is sent all the same, counts as it was.
    case unwatchedUnmeasured = "unwatched-unmeasured"
    /// An encoding that was off before it was measured takes nothing that is known, and is never shown.
    case unmeasuredNeverShown = "unmeasured-never-shown"
    /// What was measured of a layer for a tenth of a second counts as its rate.
    case briefRateBelieved = "brief-rate-believed"
    /// A probe is as high as what its publisher says that a layer takes.
    case probesAsAnnounced = "probes-as-announced"
    /// What is shown as it is best is given no room to grow before it does.
    case noRoomToGrow = "no-room-to-grow"
    /// A queue that one large picture makes lowers the target.
    case largePictureLowers = "large-picture-lowers"
    /// Where nothing is known of the path everything that is asked for again is sent.
    case repairsUnbounded = "repairs-unbounded"
    /// What is asked for again has no share of what the path carries.
    case repairsWithheld = "repairs-withheld"
    /// A subscriber has its publisher asked for key frames as often as it likes.
    case keyFramesAsAsked = "key-frames-as-asked"
    /// Pictures begin as often as a subscriber pauses and resumes them, or takes another size.
    case beginningsUnbounded = "beginnings-unbounded"
    /// A slot whose source isn't to be asked for a key frame yet has it asked as its next packet comes.
    case unaskedAsks = "unasked-asks"
    /// Layers of size of one encoding are changed as often as a subscriber likes.
    case layersUnbounded = "layers-unbounded"
    /// Each cut of a stream has its source asked for a key frame, whatever became of the last.
    case cutsUnbounded = "cuts-unbounded"
    /// A key frame that its slot waited for may wait no longer than any picture.
    case largeKeyFrameCut = "large-key-frame-cut"
    /// A large key frame goes before all other slots until it has left.
    case largeKeyFrameAlone = "large-key-frame-alone"
    /// What is announced and never comes counts as long as it is announced.
    case announcedForEver = "announced-for-ever"
    /// A frame that no other refers to takes those above it along.
    case shedsFramesAbove = "sheds-frames-above"
    // MARK: - Flight recorders
    /// All rings of a worker together take as much as they like.
    case flightUnbounded = "flight-unbounded"
    /// What is said and shown is recorded with the header.
    case flightHasPayload = "flight-has-payload"
    /// However many sessions fail at once, the records of all wait for the disk.
    case flightsUnbounded = "flights-unbounded"
    /// Old files make no room for new ones.
    case flightFilesPileUp = "flight-files-pile-up"
    /// The oldest file of all makes room, also where another room or identity has more.
    case oldestFlightGoes = "oldest-flight-goes"
    /// Of a session that is lost without a word no record is kept, since its media is closed before it ends by itself.
    case lostUnrecorded = "lost-unrecorded"
    // MARK: - Recordings
    /// What ends with a full segment has no end in Ogg.
    case segmentsUnended = "segments-unended"
    /// A cluster that is over keeps no size.
    case clusterUnsized = "cluster-unsized"
    /// A frame that lacks a packet in its middle comes out all the same.
    case halfFrames = "half-frames"
    /// Frames are written that refer to what was lost.
    case undecodableRecorded = "undecodable-recorded"
    /// What was lost of sound is left out, and what follows comes too early.
    case gapsClosed = "gaps-closed"
    /// A packet that is late has what follows it filled in once more.
    case filledAgain = "filled-again"
    /// The encoding that is written changes in the midst of pictures.
    case switchesAnywhere = "switches-anywhere"
    /// A timestamp that its arrival contradicts is believed.
    case timestampsBelieved = "timestamps-believed"
    /// A recording has every track, whatever was asked for.
    case recordsAll = "records-all"
    /// A recording is found by its id alone, whichever room is asked about.
    case recordingOfAnyRoom = "recording-of-any-room"
    /// A manifest may name any file.
    case anyFileName = "any-file-name"
    /// An encrypted track is recorded.
    case encryptedRecorded = "encrypted-recorded"
    /// A packet without a payload is missing.
    case probesMissing = "probes-missing"
    /// After another SSRC the old one's clock goes on.
    case oldClockBelieved = "old-clock-believed"
    /// Encodings are written in the order in which they come.
    case encodingsUnmerged = "encodings-unmerged"
    /// What a full disk didn't take is forgotten.
    case unwrittenForgone = "unwritten-forgone"
    /// A room that is over begins recordings.
    case recordsFinished = "records-finished"
    // MARK: - Calls
    /// One whom an administrator has taken out of a call may come back.
    case removedReturns = "removed-returns"
    /// Who leaves twice has left for the later reason.
    case laterReason = "later-reason"
    /// Any device of a person takes it out of the call.
    case anyDeviceLeaves = "any-device-leaves"
    /// Who is rung already is rung once more.
    case rungTwice = "rung-twice"
    /// A call is connected by one person alone.
    case connectedByOne = "connected-by-one"
    /// After a restart no one has time to come back.
    case restartAtOnce = "restart-at-once"
    /// One who is alone in a call stays there for ever.
    case aloneForEver = "alone-for-ever"
    /// Where the clock was set back rings go on for as long as that.
    case clockBelieved = "clock-believed"
    /// Who calls one by whom it is rung among others joins that call.
    case mergedWithMany = "merged-with-many"
    /// Who is in another call is rung all the same.
    case busyRung = "busy-rung"
    /// A snapshot takes the place of a newer one.
    case olderSnapshot = "older-snapshot"
    /// A session without an owner is offered to who came last.
    case latestAsked = "latest-asked"
    // MARK: - CallDesk
    /// What the store refuses is taken of people's budgets all the same.
    case spendingKept = "spending-kept"
    /// Everyone who knows a call's id may read it.
    case callOfAnyone = "call-of-anyone"
    /// A call's token is good behind the person's removal and the call's end.
    case callTokenForEver = "call-token-for-ever"
    /// One who was removed from a call finds what its people share.
    case sessionsForRemoved = "sessions-for-removed"
    /// One who was removed from a call reads its key.
    case keyForRemoved = "key-for-removed"
    /// A signal goes to everyone of the call.
    case signalToAll = "signal-to-all"
    /// Who records a call brings its room back once the call is over.
    case callRoomReturns = "call-room-returns"
    // MARK: - Calls at the door
    /// The token of one call opens every other.
    case callTokenOfAny = "call-token-of-any"
    /// Lists of devices have the whole token.
    case deviceTokenShown = "device-token-shown"
    /// It costs nothing to name people in a start or an invitation.
    case namedForNothing = "named-for-nothing"
    /// What is read of a person's events page by page is paid by no one.
    case pagesReadForNothing = "pages-read-for-nothing"
    /// One that the room hasn't let in is waited for all the same.
    case comingKept = "coming-kept"
    /// A ring that was pushed is pushed once more.
    case ringPushedAgain = "ring-pushed-again"
    // MARK: - Push
    /// A token that is unregistered is removed, however late it was registered.
    case goneAlways = "gone-always"
    // MARK: - KeyDirectory
    /// A key that is revoked is its device's still.
    case revokedCurrent = "revoked-current"
    /// Who is erased leaves its salt.
    case saltKept = "salt-kept"
    /// A person has keys for as many devices as it likes.
    case devicesUnbounded = "devices-unbounded"
    /// An entry is proven by a leaf that is another's.
    case leafUnchecked = "leaf-unchecked"

    /// Set once, before anything runs; unless it is, what the environment says.
    public nonisolated(unsafe) static var active: PlantedDefect? =
      variable("ROOST_DEFECT").flatMap { PlantedDefect(rawValue: String(cString: $0)) }

    @inlinable public static func isOn(_ defect: PlantedDefect) -> Bool { active == defect }
  }

  /// `getenv`, without the C library, which nothing else here needs.
  @_silgen_name("getenv")
  private func variable(_ name: UnsafePointer<CChar>) -> UnsafePointer<CChar>?
#endif
